"""An epsilon that half precision rounds to 0."""

from __future__ import annotations

import re

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, has_zero
from torchmedic.rules.numerics._reading import at_step, fitted, short

_SMALLEST = {"float16": 6e-8, "bfloat16": 1e-38}
_RESOLUTION = {"float16": 4.9e-4, "bfloat16": 3.9e-3}


class VanishedEpsilon(NumericsRule):
    """`1e-8` is 0 in float16."""

    code = "NUM012"
    name = "vanished-epsilon"
    tell_apart = "the line adds an epsilon, the operand is 0 in half precision all the same"
    rank = 22

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or not case.is_half:
            return None
        operand = case.divisor or case.first
        if operand is None or not has_zero(operand):
            return None
        dtype = operand.tensor.dtype
        source = op.where.source if op.where is not None else ""
        source += operand.made_at.source if operand.made_at is not None else ""
        epsilon = _epsilon(source, dtype)
        if not epsilon:
            return None
        return Explanation(
            headline=fitted(
                f"the epsilon {epsilon} is 0 in {dtype}: `{short(operand.name)}` is 0 {at_step(case)}",
                f"the epsilon {epsilon} is 0 in {dtype}, so `{case.name}` meets a 0 {at_step(case)}",
            ),
            where=op.where,
            mark=epsilon,
            label=f"below the smallest {dtype} number",
            tensor=operand.name or None,
            tries=("half precision",),
            remedies=(
                Remedy(
                    title=f"compute this in float32 (`.float()` first), or take an epsilon that {dtype} holds: 1e-3"
                ),
            ),
        )


def _epsilon(source: str, dtype: str) -> str:
    for found in re.findall(r"\d+(?:\.\d*)?[eE]-\d+", source):
        if 0 < float(found) < _SMALLEST.get(dtype, 0.0):
            return str(found)
    return ""
