"""`nan_to_num` over a value whose derivative is infinite."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import fitted, short


class NanToNumOverInfinity(NumericsRule):
    """`nan_to_num` repairs the value and leaves the derivative as it is."""

    code = "NUM009"
    name = "nan-to-num-over-infinity"
    tell_apart = "the loss is finite because `nan_to_num` replaced what the bad operation made; its backward is not"
    rank = 21

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or case.sick.what == "loss" or op.absorbed_by != "nan_to_num":
            return None
        return Explanation(
            headline=fitted(
                f"`nan_to_num` hides what `{short(op.expression)}` makes, not its derivative",
                f"`nan_to_num` hides what `{case.name}` makes, not its derivative",
            ),
            where=op.where,
            mark=op.expression,
            label="not finite before `nan_to_num`",
            also=shown_at(op.absorbed_at, "hidden here"),
            tensor=case.first.name if case.first is not None else None,
            notes=("0 from `nan_to_num` times an infinite derivative is NaN",),
            remedies=(Remedy(title=f"mend the argument of `{case.name}` before the call, and drop `nan_to_num`"),),
        )
