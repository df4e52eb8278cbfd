"""A value that float16 cannot hold."""

from __future__ import annotations

import re

from torchmedic.facts import Location
from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import HALF, Case, has_zero
from torchmedic.rules.numerics._reading import at_step, fitted, number, short


class HalfPrecisionOverflow(NumericsRule):
    """float16 ends at 65504."""

    code = "NUM011"
    name = "half-precision-overflow"
    tell_apart = "the first infinite value is in half precision, and the same step in float32 is finite"
    rank = 24

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or not case.is_half or op.result is None or not op.result.inf or case.name == "div":
            return None
        if any(has_zero(o) and case.name in ("log", "rsqrt", "reciprocal") for o in case.operands):
            return None
        dtype = op.result.dtype
        helped = case.helped("half precision")
        if dtype != "float16" and not helped:
            return None
        written = written_constant(op.where)
        cause = f"`{written}` does not fit {dtype}" if written else f"`{short(op.expression)}` does not fit {dtype}"
        return Explanation(
            headline=fitted(
                f"{cause}: infinite {at_step(case)}", f"a {dtype} overflow in `{case.name}` {at_step(case)}"
            ),
            where=op.where,
            mark=written or op.expression,
            label=f"{dtype} ends at {number(HALF.get(dtype))}",
            confidence="proven" if helped else "likely",
            tensor=op.expression or None,
            notes=_turned(case),
            remedies=_remedies(case, written, dtype),
            tries=("half precision",),
        )


def written_constant(where: Location | None) -> str:
    """A number in a line that half precision cannot hold, such as a mask value of -1e9."""
    source = where.source if where is not None else ""
    for found in re.findall(r"-?\d+(?:\.\d*)?[eE]\+?\d+|-?\d{6,}(?:\.\d*)?", source):
        if abs(float(found)) > 65504:
            return str(found)
    return ""


def _turned(case: Case) -> tuple[str, ...]:
    turn = case.turn
    if turn is not None and "softmax" in turn.op:
        return ("a softmax row in which every element is -inf is NaN: a sequence is masked out whole",)
    return ()


def _remedies(case: Case, written: str, dtype: str) -> tuple[Remedy, ...]:
    if written:
        return (
            Remedy(title=f"write `torch.finfo(x.dtype).min` instead of `{written}`, with the dtype of what is masked"),
        )
    return (
        Remedy(
            title="compute this part in float32: `.float()` on its inputs, under `torch.autocast(..., enabled=False)`"
        ),
    )
