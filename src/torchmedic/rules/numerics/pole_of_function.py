"""A special function at its pole."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, number, short

_POLES = {
    "erfinv": "-1 and 1",
    "special_erfinv": "-1 and 1",
    "logit": "0 and 1",
    "special_logit": "0 and 1",
    "lgamma": "0 and the negative whole numbers",
    "digamma": "0 and the negative whole numbers",
    "polygamma": "0 and the negative whole numbers",
    "tan": "odd multiples of pi / 2",
    "ndtri": "0 and 1",
    "special_ndtri": "0 and 1",
    "xlogy": "0",
    "special_entr": "negative numbers",
}


class PoleOfFunction(NumericsRule):
    """`logit(1)`, `erfinv(1)`, `lgamma(0)` are infinite."""

    code = "NUM031"
    name = "pole-of-function"
    tell_apart = "the first bad operation is a function with a pole, and its argument reaches it"
    rank = 46

    def explain(self, case: Case) -> Explanation | None:
        op, argument = case.op, case.first
        if op is None or argument is None or case.name not in _POLES:
            return None
        met = argument.value if argument.value is not None else argument.tensor.maximum
        named = f"`{short(argument.name)}`" if argument.name else "its argument"
        name = case.name.removeprefix("special_")
        return Explanation(
            headline=fitted(
                f"`{name}` at its pole: {named} is {number(met)} {at_step(case)}",
                f"`{name}` at its pole {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label=f"not finite at {_POLES[case.name]}",
            tensor=argument.name or None,
            remedies=(
                Remedy(title=f"keep {named} inside: clamp it by 1e-6, or pass `eps` where the function has one"),
            ),
        )
