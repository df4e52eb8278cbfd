"""`next` on an iterator that has nothing left."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, LoaderAtCrash, Location, Run, UsedUpGenerator
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Assignment, Code, dotted


class ExhaustedIterator(Rule):
    """A StopIteration left the script: `next` was called once too often."""

    code = "ERR039"
    name = "exhausted-iterator"
    symptoms = (Symptom.CRASH,)
    tell_apart = "StopIteration on a line that calls `next`, or a count of 0 after a loop over a generator"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        seen = run.last(UsedUpGenerator)
        if crash is not None and seen is not None and crash.type_name == "ZeroDivisionError":
            yield from self._looped_over_nothing(run, crash, seen)
            return
        if crash is None or not (crash.type_name == "StopIteration" or said(crash, "generator raised StopIteration")):
            return
        where = user_line(crash.cause) if crash.cause is not None else None
        where = where or user_line(crash)
        if where is None:
            return
        code = Code.of(run)
        name = _asked(code, where)
        made, source = _made(code, name, where)
        yield self.diagnose(
            headline=f"`next({name})` was called on an iterator that is used up" if name else "an iterator is used up",
            confidence="proven",
            where=where,
            mark=f"next({name})",
            label="nothing is left to hand out",
            also=also((made, "the iterator is made here, once"), but=where),
            culprit=Culprit(phase="data", tensor=name or None),
            evidence=tuple(_evidence(run, source)),
            remedies=tuple(_remedies(name, source, _in_other_loop(code, where))),
        )

    def _looped_over_nothing(self, run: Run, crash: Crash, seen: UsedUpGenerator) -> Iterator[Diagnosis]:
        """A loop over a generator that had ended counts nothing, and what divides by the count fails."""
        code = Code.of(run)
        loop = _loop_over(code, crash, seen.variable)
        showed = user_line(crash)
        if loop is None or showed is None or not run.info.steps:
            return
        made, _ = _made(code, seen.path, loop)
        where = made or loop
        yield self.diagnose(
            headline=f"`{seen.path}` is a generator that is used up: the loop over it runs no more",
            confidence="likely",
            where=where,
            label="made here, once" if made is not None else "",
            also=also((loop, "nothing comes in this pass"), (showed, "so this divides by 0"), but=where),
            culprit=Culprit(phase="data", tensor=seen.path),
            evidence=(
                f"`{seen.path}` comes from `{seen.function}`, and had ended when the script died",
                f"{run.info.steps} optimizer steps were made before",
            ),
            remedies=(
                Remedy(title=f"make the generator anew for every pass: call `{seen.function}` in `__iter__`")
                if "." in seen.path
                else Remedy(title=f"make `{seen.path}` anew at the top of every epoch"),
                Remedy(title="or keep what it gives in a list"),
            ),
        )


def _loop_over(code: Code, crash: Crash, variable: str) -> Location | None:
    """A `for` of the failing frames that goes over a variable."""
    for frame in (f for f in crash.frames if f.is_user):
        scope = code.scope(frame.location)
        for node in ast.walk(scope) if scope is not None else ():
            if isinstance(node, ast.For) and variable in (dotted(n) for n in ast.walk(node.iter)):
                return code.place(frame.location.file, node)
    return None


def _asked(code: Code, where: Location) -> str:
    """The argument of `next(…)` on a line."""
    statement = code.statement(where)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and dotted(node.func) == "next" and node.args:
            return ast.unparse(node.args[0])
    return ""


def _made(code: Code, name: str, where: Location) -> tuple[Location | None, str]:
    """Where the iterator was made, and the thing it goes over: `loader` in `it = iter(loader)`."""
    if name.startswith("iter("):
        return None, name[5:-1]
    found = code.last_assignment(name, where) if name else None
    if found is None and "." in name:
        found = next(iter(code.attribute_assignments(name.rpartition(".")[2])), None)
    if found is None:
        found = next(iter(_at_top(code, name, where)), None)
    if found is None:
        return None, ""
    value = found.value
    over = (
        ast.unparse(value.args[0])
        if isinstance(value, ast.Call) and dotted(value.func) == "iter" and value.args
        else ""
    )
    return found.location, over


def _at_top(code: Code, name: str, where: Location) -> list[Assignment]:
    top = Location(file=where.file, line=10**9)
    return list(code.assignments(name, top))


def _evidence(run: Run, source: str) -> Iterator[str]:
    loader = next((seen for seen in run.all(LoaderAtCrash) if seen.name == source), None)
    if loader is not None and loader.samples and loader.batch_size:
        whole, rest = divmod(loader.samples, loader.batch_size)
        batches = whole + (1 if rest and not loader.drop_last else 0)
        yield f"`{source}` has {loader.samples} samples in {batches} batches, then it ends"
    if run.info.steps:
        yield f"{run.info.steps} optimizer steps were made before"
    yield "an iterator runs once; `iter(…)` has to be called again for another pass"


def _in_other_loop(code: Code, where: Location) -> str:
    """What the innermost `for` around a line goes over, where that is data of its own and no count."""
    scope = code.scope(where)
    loops = [n for n in ast.walk(scope) if isinstance(n, ast.For)] if scope is not None else []
    around = [n for n in loops if n.lineno < where.line <= (n.end_lineno or n.lineno)]
    over = max(around, key=lambda n: n.lineno).iter if around else None
    while isinstance(over, ast.Call) and dotted(over.func) in ("enumerate", "tqdm") and over.args:
        over = over.args[0]
    return dotted(over) if isinstance(over, (ast.Name, ast.Attribute)) else ""


def _remedies(name: str, source: str, other: str) -> Iterator[Remedy]:
    over = source or "loader"
    is_kept = bool(name) and not name.startswith("iter(")
    if not (other and is_kept):
        yield Remedy(title=f"loop with `for batch in {over}:`, which ends by itself")
    if is_kept:
        yield Remedy(
            title=f"start again when it is used up, as `{other}` goes on longer"
            if other
            else "or start again when it is used up",
            diff=f"+ try:\n+     batch = next({name})\n+ except StopIteration:\n+     {name} = iter({over})\n"
            f"+     batch = next({name})",
        )
