"""Vectors that are looked up reach the loss only through the constant side of a straight-through estimator."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._cut import cut_diagnosis, cuts
from torchmedic.rules.wiring._telling import short


class CodebookBehindStraightThrough(Rule):
    """No term of the loss reads the looked-up vectors themselves, so that nothing moves them."""

    code = "WIR118"
    name = "codebook-behind-straight-through"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_NOISY, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the weights take part in the loss only inside `x + (q - x).detach()`, where they are detached"
    needs = (GraphCut,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in cuts(run, "straight-through"):
            is_held = cut.read is not None
            yield cut_diagnosis(
                self,
                cut,
                headline=f"`{short(cut.parameters[0])}` never learns: a straight-through estimator detaches it",
                label=(
                    "takes the straight-through result, which is detached from what was looked up"
                    if is_held
                    else "`x + (q - x).detach()` hands the gradient to `x`, and none to `q`"
                ),
                cures=(
                    Remedy(
                        title="compute the codebook loss on the looked-up vectors `q`, before the estimator",
                        detail="`F.mse_loss(q, x.detach())`; the commitment loss takes `q.detach()` and `x`",
                    ),
                    Remedy(title="or update the codebook by a moving average, without the optimizer"),
                ),
            )
