"""A vector of length 0 divided by its length."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import shown_at
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._divisions import is_norm, zero_divisor
from torchmedic.rules.numerics._reading import at_step, fitted, short

_IN_STEP = "0 / 0 is NaN; the derivative of the norm at 0 does not exist either"
_IN_UPDATE = "a parameter without influence on the loss has a gradient of 0, and then an update of 0"
_NORMALIZE = "use `F.normalize(x, dim=…, eps=1e-6)`, and find out why vectors are 0 throughout"
_GUARD = "take the factor 1 where the norm is 0: `torch.where(norm > 0, ratio, 1.0)`"


class ZeroVectorNormalised(NumericsRule):
    """A vector of zeros has no direction."""

    code = "NUM033"
    name = "zero-vector-normalised"
    tell_apart = "the divisor is a norm, and it is 0"
    rank = 37

    def explain(self, case: Case) -> Explanation | None:
        divisor = zero_divisor(case)
        if divisor is None or case.op is None or not is_norm(divisor):
            return None
        zeros = divisor.tensor.zeros or 1
        return Explanation(
            headline=fitted(
                f"a zero vector is normalised: `{short(divisor.name)}` is 0 {at_step(case)}",
                f"a zero vector is normalised: its norm is 0 {at_step(case)}",
            ),
            where=case.op.where,
            mark=divisor.name,
            label=f"a norm of 0 for {zeros} of {divisor.tensor.numel}",
            also=shown_at(divisor.made_at, "the norm is computed here"),
            tensor=divisor.name or None,
            notes=(_IN_UPDATE if case.sick.what == "update" else _IN_STEP,),
            remedies=(Remedy(title=_GUARD if case.sick.what == "update" else _NORMALIZE),),
            tries=("divisor",),
        )
