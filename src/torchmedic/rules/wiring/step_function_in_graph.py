"""Rounding, argmax, comparisons and casts to integers: derivative 0 or none, so nothing before them learns."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Diagnosis, Remedy, Symptom
from torchmedic.rules.wiring._cut import CutRule, cut_diagnosis, cuts
from torchmedic.rules.wiring._telling import counted


class StepFunctionInGraph(CutRule):
    """Every way from some parameters to the loss goes through a step function."""

    code = "WIR009"
    name = "step-function-in-graph"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the operation is a step function, with derivative 0 or none, and no straight-through estimator"
    needs = (GraphCut,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in cuts(run, "zero", "discrete", "integer", "cancelled", "own-backward"):
            behind = f"{counted(cut.parameter_count, 'parameter')} before it never learn"
            if cut.how == "cancelled":
                yield self._cancelled(cut, behind)
                continue
            if cut.how == "own-backward":
                yield self._own_backward(cut, behind)
                continue
            op = cut.op.removeprefix("aten.").partition(".")[0]
            shown = "an integer cast" if cut.how == "integer" else f"`{op}`"
            said = "has derivative 0 everywhere" if cut.how == "zero" else "has no derivative"
            yield cut_diagnosis(
                self,
                cut,
                headline=f"{shown} {said}: {behind}",
                label=f"{shown} {said}",
                cures=(
                    Remedy(title="let the gradient pass straight through: `x + (f(x) - x).detach()`"),
                    Remedy(title="or use a smooth stand-in: `softmax`, `sigmoid`, Gumbel-softmax"),
                ),
            )

    def _own_backward(self, cut: GraphCut, behind: str) -> Diagnosis:
        name = cut.op.removesuffix("Backward")
        return cut_diagnosis(
            self,
            cut,
            headline=f"`{name}.backward` hands on nothing but zeros: {behind}",
            label="every element is 0 here",
            cures=(
                Remedy(title="look at the condition or factor here: for a straight-through estimator return `grad`"),
            ),
        )

    def _cancelled(self, cut: GraphCut, behind: str) -> Diagnosis:
        return cut_diagnosis(
            self,
            cut,
            headline=f"an estimator without `detach` has derivative 0: {behind}",
            label="straight-through only with `detach`: it adds what it takes away, and the derivatives cancel",
            cures=(Remedy(title="detach the difference: `x + (q - x).detach()`"),),
        )
