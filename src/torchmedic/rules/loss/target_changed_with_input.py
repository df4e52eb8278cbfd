"""What is done to the input is done to the target too: both are one tensor, and it was written into in place."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TargetChanged
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class TargetChangedWithInput(Rule):
    """The input was masked or made noisy in place, and the target is another name for it."""

    code = "LOS103"
    name = "target-changed-with-input"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_ZERO, Symptom.SCORE_LOW)
    tell_apart = "a line writes into the input in place, and the target is the same tensor under another name"
    needs = (TargetChanged,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(TargetChanged)
        if seen is None:
            return
        where = seen.bound or seen.written
        yield self.diagnose(
            headline=_told(seen),
            confidence="likely",
            step=seen.step,
            where=where,
            label="a second name for the same tensor, not a copy" if seen.bound else "written in place, not in a copy",
            also=_others(seen),
            culprit=Culprit(op=seen.function, phase="data", tensor=seen.other),
            evidence=(
                f"`{seen.written_text}` works in place, and the target has the values of the changed input",
                "the model is asked for what it is shown, not for what was there before",
            ),
            remedies=(Remedy(title=_cure(seen)),),
        )


def _told(seen: TargetChanged) -> str:
    target = f"the target of `{seen.function}`"
    if seen.name == seen.other:
        name = seen.written.function.rpartition(".")[2]
        return f"`{name}` writes into its argument `{seen.name}`, {target}"
    return f"writing into `{seen.name}` changes `{seen.other}` too, {target}"


def _others(seen: TargetChanged) -> tuple[Also, ...]:
    written = (Also(location=seen.written, why="both are changed here"),) if seen.bound is not None else ()
    return (*written, *((Also(location=seen.where, why="the loss"),) if seen.where is not None else ()))


def _cure(seen: TargetChanged) -> str:
    left, equals, right = seen.bound_text.partition(" = ")
    if equals and "(" not in right and "," not in left:
        return f"make a copy: `{left} = {right}.clone()`"
    return f"make a copy of `{seen.name}` with `.clone()` before it is written into"
