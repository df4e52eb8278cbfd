"""An attribute that torch never reads, set where a switch was meant: nothing is frozen, thawed or changed."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import IdleSwitch, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class SwitchWithoutEffect(Rule):
    """A line sets `requires_grad` on a module, misspells it on a parameter, or sets a rate that no optimizer reads."""

    code = "WIR080"
    name = "switch-without-effect"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the attribute is there, and what torch reads instead still has its old value"
    needs = (IdleSwitch,)
    folds = ("frozen-last-layer",)

    def folds_in(self, run: Run) -> tuple[str, ...]:
        """A part that was to be thawed and is not: where nothing else learns, `backward` fails."""
        thaws = any(seen.of == "module" and seen.value == "True" for seen in run.all(IdleSwitch))
        return (*self.folds, "loss-without-graph") if thaws else self.folds

    def check(self, run: Run) -> Iterator[Diagnosis]:
        told: set[object] = set()
        for seen in run.all(IdleSwitch):
            if seen.where in told:
                continue
            told.add(seen.where)
            yield self.diagnose(
                headline=f"`{seen.text}` has no effect: {_state(seen)}",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.text,
                label=f"torch does not read `{seen.attribute}` of {_owner(seen)}",
                culprit=Culprit(op=seen.attribute, parameter=seen.examples[0] if seen.examples else None),
                evidence=_evidence(seen, sum(1 for one in run.all(IdleSwitch) if one.where == seen.where)),
                remedies=(_remedy(seen),),
            )


def _state(seen: IdleSwitch) -> str:
    if seen.of in ("optimizer", "group"):
        return f"`{seen.meant}` stays {float(seen.instead):g}"
    return "the parameters still train" if seen.value == "False" else "the parameters stay frozen"


def _owner(seen: IdleSwitch) -> str:
    names = {"module": "a module", "parameter": "a parameter", "optimizer": "an optimizer", "group": "a group"}
    return names[seen.of]


def _evidence(seen: IdleSwitch, times: int) -> tuple[str, ...]:
    if seen.of == "group":
        return (f"`{seen.attribute}` is {seen.value}, but `{seen.owner}` steps with `{seen.meant}` {seen.instead}",)
    if seen.of == "optimizer":
        return (
            f"`{seen.owner}` steps with the `{seen.meant}` of its `param_groups`, which is {float(seen.instead):g}; "
            f"the attribute `{seen.attribute}`, which is {float(seen.value):g}, is read by nobody",
        )
    names = ", ".join(f"`{name}`" for name in seen.examples)
    more = "" if seen.count <= len(seen.examples) else f" and {seen.count - len(seen.examples)} more"
    return (
        f"`{seen.attribute}` is {seen.value} on `{seen.owner}`, and `requires_grad` is {seen.instead} on its "
        f"parameters {names}{more}",
        "any object can be given a new attribute, under any name, without an error",
    )


def _remedy(seen: IdleSwitch) -> Remedy:
    if seen.of == "module":
        return Remedy(title=f"call the method: `{seen.target}.requires_grad_({seen.value})`")
    if seen.of == "parameter":
        return Remedy(title=f"write `{seen.target}.requires_grad = {seen.value}`")
    return Remedy(title=f'write `group["{seen.meant}"] = …` for every `group` in `optimizer.param_groups`')
