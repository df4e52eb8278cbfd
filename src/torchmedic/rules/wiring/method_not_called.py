"""A method that is named and not called: the parentheses are missing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, UncalledMethod
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEFT_OUT = {
    "zero_grad": "the gradients are not cleared",
    "step": "nothing is updated",
    "backward": "no gradient is computed",
    "eval": "the mode stays as it is",
    "train": "the mode stays as it is",
}


class MethodNotCalled(Rule):
    """The statement looks the method up and drops it."""

    code = "WIR064"
    name = "method-not-called"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "a line of its own names `zero_grad`, `step`, `backward`, `eval` or `train` without parentheses"
    needs = (UncalledMethod,)
    folds = (
        "never-a-backward",
        "gradients-never-cleared",
        "optimizer-never-stepped",
        "scheduler-never-stepped",
        "training-in-eval-mode",
        "evaluation-in-train-mode",
        "exploding-weights",
        "TRN",
    )

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(UncalledMethod):
            yield self.diagnose(
                headline=f"`{seen.text}` is named but not called: {_LEFT_OUT[seen.method]}",
                confidence="proven",
                where=seen.where,
                mark=seen.text,
                label="no parentheses",
                culprit=Culprit(op=seen.method),
                evidence=(f"`{seen.text}` without `()` is a value, and the line throws it away",),
                remedies=(Remedy(title=f"write `{seen.text}()`"),),
            )
