"""A softmax row in which everything is masked out."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted


class FullyMaskedSoftmax(NumericsRule):
    """A softmax over nothing but minus infinity is NaN."""

    code = "NUM013"
    name = "fully-masked-softmax"
    tell_apart = "NaN arises in a softmax, from `-inf` that a mask put there"
    rank = 23

    def explain(self, case: Case) -> Explanation | None:
        origin, op = case.origin, case.op
        if (
            origin is None
            or op is None
            or ("softmax" not in case.name and "attention" not in case.name and case.name != "logsumexp")
        ):
            return None
        if origin.placed is None and not (case.first is not None and case.first.tensor.inf):
            return None
        masked = origin.placed
        width = op.result.shape[-1] if op.result is not None and op.result.shape else 0
        rows = op.bad // width if width and op.bad % width == 0 else 0
        counted = f"{rows} rows are" if rows > 1 else "a row is" if rows == 1 else "rows are"
        return Explanation(
            headline=fitted(f"a softmax over nothing: {counted} masked with `-inf` throughout {at_step(case)}"),
            where=op.where,
            mark=op.expression,
            label="NaN where every element is -inf",
            also=shown_at(masked.where if masked is not None else None, "the mask is applied here"),
            tensor=case.first.name if case.first is not None else None,
            remedies=(
                Remedy(title="leave at least one element of every row unmasked, or drop rows that have none"),
                Remedy(title="or write 0 into the rows that are masked whole, before they reach the softmax"),
            ),
        )
