"""A term of the loss that was computed without a graph: it changes the number, and teaches nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed

# Of weights alone: a penalty on the weights that does not reach them.
_COPYING = {"data": "`.data`", "detach": "`.detach()`"}


class LossTermWithoutGradient(Rule):
    """A summand of the loss depends on the trained weights but needs no gradient."""

    code = "WIR011"
    name = "loss-term-without-gradient"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL)
    tell_apart = "the parameters do get a gradient, but only from the other terms of the loss"
    needs = (GraphCut,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in run.all(GraphCut):
            if not cut.whole_term:
                continue
            is_penalty = cut.how in _COPYING
            by = _COPYING.get(cut.how) or (
                "`no_grad`"
                if cut.how == "no_grad"
                else f"`{cut.callee or cut.op.removeprefix('aten.').partition('.')[0]}`"
            )
            yield self.diagnose(
                headline=f"a term of the loss is computed from {by} and has no effect on the weights"
                if is_penalty
                else f"a term of the loss is computed under {by} and has no effect on the weights",
                confidence="likely",
                step=cut.step,
                where=cut.where,
                label="no graph is built here, yet the result is added to the loss",
                also=also(
                    (cut.read, "what is cut off is used here"),
                    (cut.backward, "the loss of this backward"),
                    where=cut.where,
                )[:2],
                culprit=Culprit(op=cut.op, parameter=cut.parameters[0], phase="forward"),
                evidence=(
                    f"the term is computed from {listed(cut.parameters)} and needs no gradient, the other terms do",
                    "a constant term leaves every gradient as it is",
                ),
                remedies=(
                    Remedy(
                        title=f"compute this term from the parameters themselves, without {by}"
                        if is_penalty
                        else "compute this term with gradients on, outside of `no_grad`"
                    ),
                ),
            )
            return
