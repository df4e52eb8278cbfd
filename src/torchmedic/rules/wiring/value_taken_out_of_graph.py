"""`.item()`, `.numpy()` or `.tolist()` on the way to the loss: what comes back is a constant."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Diagnosis, Remedy, Symptom
from torchmedic.rules.wiring._cut import CutRule, cut_diagnosis, cuts
from torchmedic.rules.wiring._telling import counted


class ValueTakenOutOfGraph(CutRule):
    """A result of the weights left torch and came back as a new tensor or a plain number."""

    code = "WIR007"
    name = "value-taken-out-of-graph"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the value leaves torch by `.item()`, `.numpy()` or `.tolist()`"
    needs = (GraphCut,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in cuts(run, "item", "numpy", "tolist", "tensor"):
            if cut.how == "tensor":
                yield self._made_of_a_list(cut)
                continue
            call = f".{cut.how}()"
            rebuilt = " and `requires_grad=True` on the new tensor does not bring it back" if cut.loss_is_leaf else ""
            yield cut_diagnosis(
                self,
                cut,
                headline=f"`{call}` keeps the gradient from {counted(cut.parameter_count, 'parameter')}",
                label=f"`{call}` gives a plain value without history{rebuilt}",
                cures=(
                    Remedy(title=f"keep the tensor: drop `{call}` here and sum or stack the tensors themselves"),
                    *(
                        (Remedy(title="do not wrap the loss in `torch.tensor(…, requires_grad=True)`"),)
                        if cut.loss_is_leaf
                        else ()
                    ),
                ),
            )

    def _made_of_a_list(self, cut: GraphCut) -> Diagnosis:
        return cut_diagnosis(
            self,
            cut,
            headline=f"`torch.tensor` of a list keeps the gradient from {counted(cut.parameter_count, 'parameter')}",
            label="takes the numbers out of the tensors in the list, without their history",
            cures=(Remedy(title="use `torch.stack` on the list: it keeps the graph of every tensor in it"),),
        )
