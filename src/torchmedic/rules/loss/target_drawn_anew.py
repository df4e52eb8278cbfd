"""The loss compares with random numbers that were drawn for it alone."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FreshTarget, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class TargetDrawnAnew(Rule):
    """Noise was drawn for the input and a second time for the target: the two have nothing to do with each other."""

    code = "LOS065"
    name = "target-drawn-anew"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the random numbers of the target were read by nothing but the loss"
    needs = (FreshTarget,)
    folds = ("answers-unrelated-to-targets",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(FreshTarget))
        lines = {seen.where for seen in found}
        if len(lines) != 1 or len(found) < 3:
            return
        seen = found[0]
        where = seen.drawn or seen.where
        yield self.diagnose(
            headline=f"the target `{seen.drawn_text}` is drawn for the loss alone: nothing else has seen it",
            confidence="proven",
            step=seen.step,
            where=where,
            mark=seen.drawn_text,
            label="new random numbers in every step",
            also=(Also(location=seen.where, why="the loss compares with them here"),)
            if seen.where is not None and seen.where != where
            else (),
            culprit=Culprit(op=seen.op, phase="forward", tensor=seen.drawn_text),
            evidence=(
                f"so it was in all {len(found)} steps looked at; other random numbers of the same shape "
                f"{list(seen.shape)} went into the model",
                "the best answer to a target that cannot be known is its mean, 0",
            ),
            remedies=(Remedy(title="compare with the noise that was added to the input: draw it once and keep it"),),
        )
