"""Weights that are used only inside `no_grad`, though an optimizer is to train them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Diagnosis, Remedy, Symptom
from torchmedic.rules.wiring._cut import CutRule, cut_diagnosis, cuts
from torchmedic.rules.wiring._telling import counted


class ComputedWithoutGradient(CutRule):
    """Gradients were switched off around the only use of some parameters."""

    code = "WIR008"
    name = "computed-without-gradient"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the operation ran while gradients were switched off"
    needs = (GraphCut,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in cuts(run, "no_grad", "library"):
            by = "`no_grad`" if cut.how == "no_grad" else f"`{cut.callee}`"
            yield cut_diagnosis(
                self,
                cut,
                headline=f"{counted(cut.parameter_count, 'parameter')} are used only under {by} and get no gradient",
                label="no graph is built here",
                cures=(
                    Remedy(title="leave the part that is to learn outside of `no_grad`"),
                    Remedy(title="or take these parameters out of the optimizer, if they are frozen on purpose"),
                ),
            )
