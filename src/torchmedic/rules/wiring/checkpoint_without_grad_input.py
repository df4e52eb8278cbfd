"""Reentrant activation checkpointing whose inputs need no gradient: the checkpointed layers get none either."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Diagnosis, Remedy, Symptom
from torchmedic.rules.wiring._cut import CutRule, cut_diagnosis, cuts
from torchmedic.rules.wiring._telling import counted


class CheckpointWithoutGradInput(CutRule):
    """`checkpoint(…, use_reentrant=True)` on a tensor that needs no gradient."""

    code = "WIR010"
    name = "checkpoint-without-grad-input"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the layers run inside a reentrant `torch.utils.checkpoint.checkpoint`"
    needs = (GraphCut,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in cuts(run, "checkpoint"):
            behind = [other for other in run.all(GraphCut) if other.how == "checkpoint"]
            names = sorted({name for other in behind for name in other.parameters})
            yield cut_diagnosis(
                self,
                cut,
                headline=f"reentrant `checkpoint` keeps the gradient from {counted(len(names), 'parameter')}",
                label="no input needs a gradient, so neither does the output",
                cures=(
                    Remedy(title="pass `use_reentrant=False`"),
                    Remedy(title="or call `x.requires_grad_()` on the input before the first `checkpoint`"),
                ),
            )
