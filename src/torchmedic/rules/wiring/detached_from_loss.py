"""`.detach()` or `.data` between the weights and the loss: they never get a gradient."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Diagnosis, Remedy, Symptom
from torchmedic.rules.wiring._cut import CutRule, cut_diagnosis, cuts
from torchmedic.rules.wiring._telling import counted


class DetachedFromLoss(CutRule):
    """The only way from some parameters to the loss goes through a detached tensor."""

    code = "WIR006"
    name = "detached-from-loss"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the tensor is taken off the graph by `.detach()` or `.data`"
    needs = (GraphCut,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in cuts(run, "detach", "data"):
            if _is_copy(cut):
                yield self._of_copy(cut)
                continue
            call = ".detach()" if cut.how == "detach" else ".data"
            yield cut_diagnosis(
                self,
                cut,
                headline=f"`{call}` keeps the gradient from {counted(cut.parameter_count, 'parameter')}",
                label=f"`{call}` ends the graph here",
                cures=(
                    Remedy(title=f"drop `{call}` on this line"),
                    Remedy(title="or take these parameters out of the optimizer, if they are not meant to learn"),
                ),
            )

    def _of_copy(self, cut: GraphCut) -> Diagnosis:
        return cut_diagnosis(
            self,
            cut,
            headline=f"`deepcopy` keeps the gradient from {counted(cut.parameter_count, 'parameter')}",
            label="the loss is computed with a copy, which has no history",
            cures=(
                Remedy(
                    title="compute with the parameters themselves: `torch.func.functional_call(model, params, …)`",
                    detail="new values such as `p - lr * g` keep the way back",
                ),
                Remedy(title="or hand the gradients of the copy over: `p.grad = copied.grad`"),
            ),
        )


def _is_copy(cut: GraphCut) -> bool:
    return "deepcopy" in (cut.expression or (cut.where.source if cut.where is not None else ""))
