"""Missing values that the script knows of and masks, after it has computed with them."""

from __future__ import annotations

from torchmedic.facts import OpFact
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import entered, field_of, shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, base_name
from torchmedic.rules.numerics._reading import fitted

_MASKS = {
    "where": "`where`",
    "masked_fill": "`masked_fill`",
    "masked_select": "`masked_select`",
    "index": "a mask",
    "nansum": "`nansum`",
}
# What a row of a matrix product or of a convolution holds is not missing in one element alone.
_MIXING = ("mm", "addmm", "bmm", "baddbmm", "convolution")


class MaskedAfterComputing(NumericsRule):
    """The mask takes the bad elements out of the loss; backward runs through them all the same."""

    code = "NUM060"
    name = "masked-after-computing"
    tell_apart = "the batch holds NaN, a mask takes just these elements out, the loss is finite and the gradient is not"
    rank = 8

    def explain(self, case: Case) -> Explanation | None:
        source, origin = case.source, case.origin
        if source is None or origin is None or source.origin not in ("batch", "variable"):
            return None
        op = origin.op
        if case.sick.what != "gradient" or op.absorbed_by not in _MASKS or _mixes(op):
            return None
        kind = "NaN" if source.value == "nan" else "bad values"
        mask = _mask(op)
        return Explanation(
            headline=fitted(f"{mask} takes the {kind} of `{source.name}` out of the loss, not out of its gradient"),
            where=op.where,
            mark=op.expression,
            label=f"computed with the {kind} as well",
            also=shown_at(op.absorbed_at, "masked here, too late for backward"),
            tensor=source.name,
            field=field_of(case),
            notes=(
                "backward multiplies the 0 that comes from an element left out by a derivative that is NaN: NaN",
                *entered(case, source),
            ),
            remedies=(
                Remedy(title="mask first: select the good elements of both operands, and compute with these alone"),
                Remedy(title="or put a harmless number in their place before: `torch.where(mask, target, 0.0)`"),
            ),
            tries=(),
            rows=source.row_count or None,
        )


def _mixes(op: OpFact) -> bool:
    return base_name(op.forward_op or op.op) in _MIXING


def _mask(op: OpFact) -> str:
    """The mask as the user wrote it: `nanmean` is a `nansum` to torch."""
    is_mean = op.absorbed_by == "nansum" and op.absorbed_at is not None and "nanmean" in op.absorbed_at.source
    return "`nanmean`" if is_mean else _MASKS[op.absorbed_by]
