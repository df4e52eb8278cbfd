"""An exponential that does not fit the type."""

from __future__ import annotations

from torchmedic.facts import OpFact
from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, magnitude
from torchmedic.rules.numerics._reading import at_step, fitted, growth_text, number, short

EXPONENTIALS = ("exp", "expm1", "exp2", "sinh", "cosh", "softplus", "logaddexp")
_LIMITS = {"float32": 88.7, "float64": 709.7, "float16": 11.1, "bfloat16": 88.7}


class ExponentialOverflow(NumericsRule):
    """`exp(89)` does not fit float32."""

    code = "NUM010"
    name = "exponential-overflow"
    tell_apart = "the first bad operation is an exponential, and its argument is above what the type can hold"
    rank = 48

    def explain(self, case: Case) -> Explanation | None:
        op, argument = case.op, case.first
        if op is None or argument is None or case.name not in EXPONENTIALS:
            return None
        if case.derives_from_infinity("sub"):
            return None
        largest, limit = magnitude(argument.tensor), _LIMITS.get(argument.tensor.dtype, 88.7)
        if argument.value is not None:
            largest = abs(argument.value)
        grown = next((g for g in case.origin.growth if g.name in argument.name), None) if case.origin else None
        return Explanation(
            headline=fitted(
                f"`{case.name}` overflows: `{short(argument.name)}` reaches {number(largest)} {at_step(case)}",
                f"`{case.name}` of {number(largest)} overflows {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label=f"{argument.tensor.dtype} ends at an argument of {limit}",
            tensor=argument.name or None,
            notes=(growth_text(grown),) if grown is not None else (),
            remedies=(Remedy(title=f"bound the argument, or use a form that cannot overflow: {_safer(op)}"),),
            tries=("argument of the exponential",),
        )


def _safer(op: OpFact) -> str:
    source = op.where.source if op.where is not None else ""
    if "log" in source:
        return "`torch.logsumexp`, `F.softplus`, `F.log_softmax`"
    return "`F.softplus` in place of `exp`, or a clamp of the logarithm that is the argument"
