"""An optimizer's state that was loaded onto other parameters than it was kept for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, StateOfOtherParameter
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, RuledOut, Symptom
from torchmedic.rules.errors._reading import also, crash_in, shape, user_line
from torchmedic.rules.errors._syntax import Code, dotted, dotted_names

_DEEPEST = 3


class OptimizerStateOfOtherParameter(Rule):
    """The optimizer has its parameters in another order than the one that was saved."""

    code = "ERR068"
    name = "optimizer-state-of-other-parameter"
    symptoms = (Symptom.CRASH, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "`optimizer.step` fails right after a resume, although `load_state_dict` raised nothing"
    needs = (StateOfOtherParameter,)
    folds = ("unbroadcastable-shapes",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        facts = list(run.all(StateOfOtherParameter))
        crash = crash_in(run)
        for fact in [f for f in facts if f.by_name] or ([facts[-1]] if crash is not None and _in_step(crash) else []):
            stepped = user_line(crash) if crash is not None and _in_step(crash) else None
            grouped = _grouped_at(Code.of(run), fact.built) if fact.built is not None else None
            where = grouped or fact.loaded or fact.built
            yield self.diagnose(
                headline=_headline(fact),
                confidence="proven",
                where=where,
                label="another order of parameters than the saved one" if grouped else "loaded by position",
                also=also(
                    (fact.loaded, "the state is loaded here, by position"),
                    (fact.built, "the optimizer is built here"),
                    (stepped, "fails here"),
                    but=where,
                ),
                culprit=Culprit(parameter=fact.parameter or None, op=fact.entry, phase="setup"),
                evidence=_evidence(fact),
                ruled_out=_ruled_out(fact),
                remedies=(
                    Remedy(title="build the optimizer with the same groups in the same order as when it was saved"),
                    Remedy(title="use one function for both: the one that makes the optimizer of the first training"),
                    Remedy(title="or leave the old state out: `optimizer.load_state_dict` is then not called"),
                ),
            )


def _in_step(crash: Crash) -> bool:
    """Whether an optimizer of torch was at work."""
    return any("torch/optim/" in f.location.file.replace("\\", "/") for f in crash.frames)


def _headline(fact: StateOfOtherParameter) -> str:
    here = f"`{fact.parameter}`" if fact.parameter else f"parameter {fact.position}"
    if fact.by_name:
        return f"{here} was given the saved `{fact.entry}` of `{fact.owner}`"
    return f"{here} {shape(fact.shape)} was given a saved `{fact.entry}` of shape {shape(fact.entry_shape)}"


def _evidence(fact: StateOfOtherParameter) -> tuple[str, ...]:
    place = f"position {fact.position} of {fact.parameters} in the `param_groups` of this `{fact.optimizer}`"
    told = [f"the state is matched by position: {fact.wrong} of {fact.parameters} parameters got that of another one"]
    if fact.by_name:
        told.append(f"{place} is `{fact.parameter}`; in the saved state it is `{fact.owner}`")
    elif fact.owner:
        told.append(f"{place}: the only parameter of shape {shape(fact.entry_shape)} is `{fact.owner}`")
    return tuple(told)


def _ruled_out(fact: StateOfOtherParameter) -> tuple[RuledOut, ...]:
    counted = f"{fact.parameters} parameters in {fact.groups} group{'s' if fact.groups != 1 else ''}"
    return (RuledOut(suspect="another number of parameters", how=f"both have {counted}, so loading raised nothing"),)


def _grouped_at(code: Code, built: Location) -> Location | None:
    """The line that decides the order: of the groups, or of the list of parameters; None for `model.parameters()`."""
    calls = [n for n in ast.walk(code.trees.get(built.file, ast.Module([], []))) if isinstance(n, ast.Call)]
    given = [c.args[0] for c in calls if c.lineno == built.line and c.args]
    given += [k.value for c in calls if c.lineno == built.line for k in c.keywords if k.arg == "params"]
    for expression in given:
        if not _is_whole_model(expression):
            return _ordered_at(code, expression, built) or built
    return None


def _is_whole_model(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Call) and dotted(expression.func).endswith("parameters")


def _ordered_at(code: Code, expression: ast.expr, place: Location, depth: int = 0) -> Location | None:
    """Where the list or mapping was begun that an expression hands on or goes through."""
    names = _sources_of(expression)
    if depth >= _DEEPEST or len(names) != 1:
        return None
    bound = [a for a in code.assignments(names[0], place) if a.how == "assign" and a.location.line < place.line]
    if not bound or bound[-1].value is None:
        return None
    return _ordered_at(code, bound[-1].value, bound[-1].location, depth + 1) or bound[-1].location


def _sources_of(expression: ast.expr) -> tuple[str, ...]:
    if isinstance(expression, (ast.ListComp, ast.GeneratorExp)):
        expression = expression.generators[0].iter
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        plain = expression.func.attr in ("items", "values")
        return dotted_names([expression.func.value]) if plain else ()
    return dotted_names([expression]) if isinstance(expression, ast.Name) else ()
