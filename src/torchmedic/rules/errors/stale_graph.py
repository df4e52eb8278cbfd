"""A second backward that runs into a graph which an earlier one had freed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from torchmedic.facts import Crash, Holder, Location, Run, StaleGraph
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._following import passed_by_callers
from torchmedic.rules.errors._reading import also, crash_in, said, shape, user_line
from torchmedic.rules.errors._syntax import Assignment, Code, dotted_names

_NO_CURE = (
    "`retain_graph=True` is no cure: it keeps every earlier step's graph, so time and memory grow with each step, "
    "and the weights that graph saved have been changed by the optimizer"
)


_LABELS = {
    "carried": "kept here with its graph",
    "once": "built here, outside the step",
    "shared": "used here before the first `backward`",
    "root": "the first `backward` frees it",
}


class StaleGraphRule(Rule):
    """A tensor kept from before the last backward carried its graph into this one."""

    code = "ERR015"
    name = "stale-graph"
    symptoms = (Symptom.CRASH, Symptom.MEMORY_GROWS)
    tell_apart = "`backward` fails at the second step or the second loss, never at the first"
    needs = (Crash,)
    folds = ("inplace-changed-saved-tensor",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        if crash is None:
            return
        second = said(crash, r"backward through the graph a second time")
        changed = said(crash, r"modified by an inplace operation")
        fact = run.last(StaleGraph)
        if second is None and (changed is None or fact is None):
            return
        line = user_line(crash)
        if fact is None:
            if line is not None:
                yield self._unknown(line)
            return
        if fact.same_root:
            yield self._twice(fact, line)
            return
        carrier = _carrier(Code.of(run), crash, fact)
        if carrier is not None and (second is not None or carrier[2] == "carried"):
            yield self._carried(fact, line, *carrier)
        elif second is not None and line is not None:
            yield self._unknown(line, fact)

    def _carried(
        self, fact: StaleGraph, line: Location | None, holder: Holder, stored: Location | None, how: str
    ) -> Diagnosis:
        name = holder.name
        headline = {
            "carried": f"`{name}` carried the graph of an earlier step into this `backward`",
            "once": f"`{name}` was computed once; an earlier `backward` freed its graph",
            "shared": f"two backwards run through `{name}`, and the first one freed its graph",
            "root": f"`{name}` is part of two backwards, and the first one freed its graph",
        }[how]
        cure = {
            "carried": Remedy(title=f"detach what is kept: {_detached(name, holder, fact, stored)}"),
            "once": Remedy(title=f"compute `{name}` inside the step, or `.detach()` it if it should not learn"),
            "shared": Remedy(
                title=f"pass `{name}.detach()` to the part that should not train through it, "
                "or add the losses and call `backward` once"
            ),
            "root": Remedy(title="add the losses and call `backward` once, on the sum"),
        }[how]
        return self.diagnose(
            headline=headline,
            confidence="proven",
            where=stored or line,
            label=_LABELS[how],
            also=also(
                (line, "the old graph came back here"),
                (fact.first_backward, "freed here before"),
                but=stored or line,
            ),
            culprit=Culprit(tensor=name, op=fact.operation, phase="backward", module=holder.owner or None),
            evidence=(
                f"the old part of the graph begins at `{fact.operation}` of shape {shape(fact.shape)}, "
                f"made before the last completed `backward`",
                _NO_CURE,
            ),
            remedies=(cure,),
        )

    def _twice(self, fact: StaleGraph, line: Location | None) -> Diagnosis:
        name = fact.holders[0].name if fact.holders else "this tensor"
        return self.diagnose(
            headline=f"`backward` ran a second time on `{name}`, whose graph the first run had freed",
            confidence="proven",
            where=line,
            label="the second `backward`",
            also=also((fact.first_backward, "the first `backward`"), but=line),
            culprit=Culprit(tensor=name, op=fact.operation, phase="backward"),
            evidence=(f"`{name}` was not computed anew in between", _NO_CURE),
            remedies=(Remedy(title=f"call `{name}.backward()` once per forward pass"),),
        )

    def _unknown(self, line: Location, fact: StaleGraph | None = None) -> Diagnosis:
        border = f"; it begins at `{fact.operation}` of shape {shape(fact.shape)}" if fact is not None else ""
        return self.diagnose(
            headline="this `backward` runs through a graph that an earlier one has freed",
            confidence="likely",
            where=line,
            also=also((fact.first_backward if fact else None, "freed here before"), but=line),
            culprit=Culprit(phase="backward"),
            evidence=(f"a tensor computed before the last `backward` takes part in this loss{border}", _NO_CURE),
            remedies=(
                Remedy(title="`.detach()` the state that is kept from step to step, or compute it anew in each step"),
            ),
        )


def _detached(name: str, holder: Holder, fact: StaleGraph, stored: Location | None) -> str:
    attribute = name.rpartition(".")[2]
    target = f"self.{attribute}" if holder.kind == "attribute" else attribute
    several = sum(h.name == name for h in fact.holders) > 1
    if stored is not None and "[" in stored.source.partition("=")[0] and "[" not in name:
        return f"make `{name}` anew in every step, or call `{name}.detach_()` after `backward`"
    if stored is not None and (".append(" in stored.source or "[" in name):
        return f"put `.detach()` tensors into `{name.partition('[')[0]}`, or empty it after every `backward`"
    if several:
        return f"`{target} = tuple(h.detach() for h in {target})`"
    return f"`{target} = {target}.detach()`"


def _carrier(code: Code, crash: Crash, fact: StaleGraph) -> tuple[Holder, Location | None, str] | None:
    """The name that kept the old tensor, the line that stored it, and how it came back."""
    for holder in sorted(fact.holders, key=lambda h: not h.is_old):
        if holder.kind == "attribute":
            stored = _attribute_store(code, holder)
            once = stored is not None and _is_of_construction(code, stored)
            return holder, stored, "once" if holder.is_old and once else "carried"
        if holder.kind == "variable" and (found := _variable_store(code, crash, fact, holder)):
            return holder, *found
    return None


def _is_of_construction(code: Code, place: Location) -> bool:
    """Whether a line runs when an object is built: in `__init__`, or in a method that nothing but `__init__` calls."""
    name = place.function.rpartition(".")[2]
    if name == "__init__":
        return True
    callers = [at.function.rpartition(".")[2] for at, _ in code.calls(name)] if name else []
    return bool(callers) and set(callers) == {"__init__"}


def _attribute_store(code: Code, holder: Holder) -> Location | None:
    attribute = re.sub(r"\[[^\]]*\]$", "", holder.name).rpartition(".")[2]
    if filled := code.stores_into(attribute):
        return filled[0]
    found = [
        a
        for a in code.attribute_assignments(attribute, holder.owner.rpartition(".")[2])
        if not isinstance(a.value, ast.Constant)
    ]
    later = [a for a in found if not a.location.function.endswith("__init__")]
    return (later or found)[0].location if found else None


def _variable_store(code: Code, crash: Crash, fact: StaleGraph, holder: Holder) -> tuple[Location, str] | None:
    frames = [f for f in crash.frames if f.is_user and f.location.function == (holder.function or "<module>")]
    place = frames[-1].location if frames else Location(file=holder.file, line=0)
    name = holder.name.partition("[")[0].partition(".")[0]
    if filled := code.stores_into(name):
        return filled[-1], "carried"
    bound = [a for a in code.assignments(name, place) if a.how in ("assign", "augment")]
    loop = _loop(code, place)
    inside = [a for a in bound if loop is None or loop.lineno <= a.location.line <= (loop.end_lineno or 0)]
    if not bound:
        return _passed_store(code, crash, fact, holder, place)
    if loop is not None and not inside:
        return (bound[-1].location, "once") if holder.is_old else None
    kept = [a for a in inside if a.location.line > place.line or a.how == "augment" or _feeds_itself(a, name)]
    if kept and loop is not None:
        return kept[-1].location, "carried"
    if not holder.is_old:
        return None
    used = _first_use(code, name, inside[-1], fact, place)
    first = fact.first_backward
    return used, "root" if first is not None and (used.file, used.line) == (first.file, first.line) else "shared"


def _passed_store(
    code: Code, crash: Crash, fact: StaleGraph, holder: Holder, place: Location
) -> tuple[Location, str] | None:
    """The same for a tensor that came as an argument: what the caller's variable is."""
    function = code.scope(place)
    own = [f for f in crash.frames if f.is_user]
    at = next((i for i, f in enumerate(own) if f.location.function == holder.function), 0)
    if not isinstance(function, ast.FunctionDef) or at == 0:
        return None
    caller = own[at - 1].location
    for where, given in passed_by_callers(code, place, function, holder.name):
        if (where.file, where.line) == (caller.file, caller.line) and isinstance(given, ast.Name):
            above = replace(holder, name=given.id, function=caller.function)
            return _variable_store(code, crash, fact, above)
    return None


def _feeds_itself(bound: Assignment, name: str) -> bool:
    return bound.value is not None and name in {n.partition(".")[0] for n in dotted_names([bound.value])}


def _loop(code: Code, place: Location) -> ast.For | ast.While | None:
    scope = code.scope(place)
    loops = (
        [
            n
            for n in ast.walk(scope)
            if isinstance(n, (ast.For, ast.While)) and n.lineno <= place.line <= (n.end_lineno or 0)
        ]
        if scope is not None
        else []
    )
    return max(loops, key=lambda n: n.lineno, default=None)


def _first_use(code: Code, name: str, bound: Assignment, fact: StaleGraph, place: Location) -> Location:
    """The first line that uses a shared tensor before the first backward: where a `detach` belongs."""
    scope = code.scope(place)
    if scope is None:
        return bound.location
    first = fact.first_backward
    is_here = first is not None and first.file == place.file and code.scope(first) is scope
    until = first.line if first is not None and is_here else place.line
    uses = [
        n
        for n in ast.walk(scope)
        if isinstance(n, ast.Name)
        and n.id == name
        and isinstance(n.ctx, ast.Load)
        and bound.location.line < n.lineno <= until
    ]
    return code.place(place.file, min(uses, key=lambda n: n.lineno)) if uses else bound.location
