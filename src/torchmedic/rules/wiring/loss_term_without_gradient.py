"""A term of the loss that was computed without a graph: it changes the number, and teaches nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._cut import of_terms_behind
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

    def folds_in(self, run: Run) -> tuple[str, ...]:
        cut = next((cut for cut in run.all(GraphCut) if cut.whole_term), None)
        return (*self.folds, *of_terms_behind(cut, run))

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for cut in run.all(GraphCut):
            if not cut.whole_term:
                continue
            headline, label, remedy = _told(cut)
            yield self.diagnose(
                headline=headline,
                confidence="likely",
                step=cut.step,
                where=cut.where,
                label=label,
                also=also(
                    (cut.read, "what is cut off is used here"),
                    (cut.backward, "the loss of this backward"),
                    where=cut.where,
                )[:2],
                culprit=Culprit(op=cut.op, parameter=cut.parameters[0], phase="forward"),
                evidence=_evidence(cut),
                remedies=(Remedy(title=remedy),),
            )
            return


def _evidence(cut: GraphCut) -> tuple[str, ...]:
    if cut.strayed:
        return (
            f"the term is computed from {listed(cut.parameters)}, and its gradient ends at `{cut.expression}`",
            f"it goes to {listed(cut.strayed)} alone, where it is cleared before any optimizer steps",
        )
    if cut.within_term:
        return (
            f"the gradients are computed from {listed(cut.parameters)}, and beside them stands what is learned",
            "the learned side is pulled towards it, and nothing pulls at it",
        )
    return (
        f"the term is computed from {listed(cut.parameters)} and needs no gradient, the other terms do",
        "a constant term leaves every gradient as it is",
    )


def _told(cut: GraphCut) -> tuple[str, str, str]:
    """The headline, the words at the line, and what to do."""
    if cut.strayed:
        return (
            "a term of the loss is cut off by `.detach()` from the weights that this step trains",
            "the gradient of the term ends here",
            f"leave the `.detach()` out of `{cut.expression}`: it belongs into the step that trains the other model",
        )
    label = "no graph is built here, yet the result is added to the loss"
    if cut.within_term:
        return (
            "gradients without a graph stand in the loss: that part of it has no effect on the weights",
            "what this returns is a constant, yet the loss compares it with what is learned",
            "pass `create_graph=True` to `autograd.grad`; `retain_graph=True` keeps the graph but builds none",
        )
    if cut.how == "gradient":
        return (
            "a term of the loss is made of gradients without a graph and has no effect on the weights",
            "what this returns is a constant, yet it is added to the loss",
            "pass `create_graph=True` to `autograd.grad`; `retain_graph=True` keeps the graph but builds none",
        )
    if cut.how in _COPYING:
        by = _COPYING[cut.how]
        return (
            f"a term of the loss is computed from {by} and has no effect on the weights",
            label,
            f"compute this term from the parameters themselves, without {by}",
        )
    if cut.how in ("item", "tensor", "copy"):
        return _of_numbers(cut)
    function = cut.callee or cut.op.removeprefix("aten.").partition(".")[0]
    by = "`no_grad`" if cut.how == "no_grad" else f"`{function}`"
    return (
        f"a term of the loss is computed under {by} and has no effect on the weights",
        label,
        "compute this term with gradients on, outside of `no_grad`",
    )


def _of_numbers(cut: GraphCut) -> tuple[str, str, str]:
    if cut.how == "tensor":
        by, label = "`torch.tensor`", "takes the numbers out of the tensors in the list, without their history"
        remedy = "use `torch.stack` on the list: it keeps the graph of every tensor in it"
    elif cut.how == "copy":
        by, label = "`torch.tensor`", "makes a new tensor of the value, without its history"
        remedy = f"add the tensor itself to the loss, without {by}"
    else:
        by = "`float`" if cut.expression.startswith("float(") else "`.item()`"
        label, remedy = f"{by} gives a plain number without history", f"add the tensor itself to the loss, without {by}"
    return f"a term of the loss passes through {by} and has no effect on the weights", label, remedy
