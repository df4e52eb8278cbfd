"""The derivative of `acos`, `asin` or `atanh` at the edge of their range."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, magnitude
from torchmedic.rules.numerics._reading import at_step, fitted, short

_EDGES = {"acos": 1.0, "asin": 1.0, "atanh": 1.0, "acosh": 1.0}


class InverseFunctionAtEdge(NumericsRule):
    """`acos` has an infinite slope at 1 and is NaN beyond."""

    code = "NUM007"
    name = "inverse-function-at-edge"
    tell_apart = (
        "the first bad operation is `acos`, `asin`, `atanh` or `acosh` (or its backward) with an argument of 1 or more"
    )
    rank = 43

    def explain(self, case: Case) -> Explanation | None:
        op, argument = case.op, case.first
        if op is None or case.name not in _EDGES:
            return None
        largest = magnitude(argument.tensor) if argument is not None else 1.0
        named = f"`{short(argument.name)}`" if argument is not None and argument.name else "its argument"
        what = (
            f"the derivative of `{case.name}` is infinite"
            if case.in_backward
            else f"`{case.name}` outside of its range"
        )
        return Explanation(
            headline=fitted(f"{what}: {named} reaches {largest:.7g} {at_step(case)}", f"{what} {at_step(case)}"),
            where=op.where,
            mark=op.expression,
            label=f"argument of {largest:.7g}",
            tensor=argument.name if argument is not None else None,
            notes=("a clamp to exactly -1 and 1 keeps the value finite and the slope infinite",)
            if case.in_backward
            else (),
            remedies=(Remedy(title="clamp the argument a little inside the edge, or use `atan2` of sine and cosine"),),
            tries=("argument at the edge",),
        )
