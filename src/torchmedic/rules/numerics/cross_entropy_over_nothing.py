"""A cross-entropy in which every label is ignored."""

from __future__ import annotations

from torchmedic.facts import Operand
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, has_zero
from torchmedic.rules.numerics._reading import at_step, fitted, number


class CrossEntropyOverNothing(NumericsRule):
    """The mean over the labels that are not ignored is a mean over none."""

    code = "NUM016"
    name = "cross-entropy-over-nothing"
    tell_apart = "a cross-entropy is NaN although its input is finite, because every label is the ignored one"
    rank = 31

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or not op.makes_nan:
            return None
        labels = _ignored(case)
        if labels is None and not _is_divided_by_no_label(case):
            return None
        value = number(labels.tensor.minimum) if labels is not None else "-100"
        count = f"all {labels.tensor.numel} labels are {value}" if labels is not None else f"all labels are {value}"
        return Explanation(
            headline=fitted(f"no label is left: {count}, the ignored one, {at_step(case)}"),
            where=op.written_at or op.where,
            label=f"`ignore_index` is {value}" if op.written_at else "the mean over no label is 0 / 0",
            also=shown_at(op.where, "the mean over no label is 0 / 0"),
            tensor=(labels.name if labels is not None else "") or "labels",
            notes=(f"`ignore_index` is {value}; the mean divides by the number of other labels, which is 0",),
            remedies=(
                Remedy(title="drop samples whose labels are all ignored: often truncation cut the answer away"),
                Remedy(title="or pass `reduction='sum'` and divide by the number of labels, at least 1"),
            ),
            tries=(),
        )


def _ignored(case: Case) -> Operand | None:
    """The labels of a cross-entropy, if they are all the same one."""
    if "nll_loss" not in case.name:
        return None
    labels = next((o for o in case.operands if o.tensor.dtype in ("int64", "int32", "uint8")), None)
    if labels is None or labels.tensor.minimum is None or labels.tensor.minimum != labels.tensor.maximum:
        return None
    return labels


def _is_divided_by_no_label(case: Case) -> bool:
    """A summed cross-entropy of 0 over a count of 0, as libraries that count labels themselves do."""
    divided = case.first
    return (
        case.name == "div"
        and divided is not None
        and any("nll_loss" in m for m in divided.made_by[:1])
        and has_zero(case.divisor)
    )
