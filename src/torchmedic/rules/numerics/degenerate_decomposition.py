"""The backward of an SVD or eigendecomposition with equal values."""

from __future__ import annotations

import re

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, short

_DECOMPOSITION = re.compile(r"(?i)(?:^|_|linalg)(svd|eigh|eig|symeig|qr)(?:$|_|backward)")


class DegenerateDecomposition(NumericsRule):
    """The derivative of singular vectors divides by the differences of singular values."""

    code = "NUM018"
    name = "degenerate-decomposition"
    tell_apart = "the first bad operation belongs to the backward of an SVD, `eigh` or QR"
    rank = 34

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        met = (_DECOMPOSITION.search(case.name) or _DECOMPOSITION.search(op.node)) if op is not None else None
        if op is None or met is None or not case.in_backward:
            return None
        found = met.group(1).lower()
        values = (
            "eigenvalues"
            if found.startswith(("eig", "sym"))
            else "singular values"
            if found == "svd"
            else "diagonal of R"
        )
        named = f"`{short(case.first.name)}`" if case.first is not None and case.first.name else "the matrix"
        return Explanation(
            headline=fitted(
                f"the derivative of `{found}` is not finite: {named} has equal or zero {values} {at_step(case)}",
                f"the derivative of `{found}` is not finite {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label=f"divides by differences of the {values}",
            tensor=case.first.name if case.first is not None else None,
            remedies=(
                Remedy(title="use the values alone (`svdvals`, `eigvalsh`) if the vectors are not needed"),
                Remedy(title="or do not differentiate through the vectors: `.detach()` them"),
            ),
            tries=("equal singular values",),
        )
