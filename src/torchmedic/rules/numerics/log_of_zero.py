"""A logarithm of zero or of something negative."""

from __future__ import annotations

from torchmedic.facts import Operand
from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, comes_from, text
from torchmedic.rules.numerics._reading import at_step, fitted, number, short

_POLES = {"log": 0.0, "log2": 0.0, "log10": 0.0, "log1p": -1.0}
_DETERMINANTS = ("_linalg_det", "linalg_det", "det")


class LogOfZero(NumericsRule):
    """`log(0)` is minus infinity, `log` of less is NaN."""

    code = "NUM002"
    name = "log-of-zero"
    tell_apart = "the first bad operation is a logarithm, and its smallest argument is 0 or less"
    rank = 41

    def explain(self, case: Case) -> Explanation | None:
        op, argument = case.op, case.first
        if op is None or argument is None or case.name not in _POLES:
            return None
        pole = _POLES[case.name]
        lowest = argument.tensor.minimum
        if lowest is None or lowest > pole:
            return None
        said = number(pole) if lowest == pole else "a negative number" if pole == 0 else f"less than {number(pole)}"
        named = f"`{short(argument.name)}`" if argument.name else "its argument"
        return Explanation(
            headline=fitted(
                f"`{case.name}` of {said}: {named} reaches {number(lowest)} {at_step(case)}",
                f"`{case.name}` of {said} {at_step(case)}",
            ),
            where=op.where,
            mark=op.expression,
            label=f"smallest argument {number(lowest)}",
            tensor=argument.name or None,
            notes=_counted(argument, pole),
            remedies=_remedies(case, argument, lowest < pole),
            # A product that underflowed is 0 everywhere around: keeping it off 0 leaves nothing to learn from.
            tries=() if _is_product(argument) else ("argument of the logarithm", "argument of `log1p`"),
        )


def _counted(argument: Operand, pole: float) -> tuple[str, ...]:
    if pole != 0 or not argument.tensor.zeros:
        return ()
    return (f"{text(argument)} is exactly 0 in {argument.tensor.zeros} of {argument.tensor.numel} places",)


def _is_product(argument: Operand) -> bool:
    return comes_from(argument, *_DETERMINANTS, "prod")


def _remedies(case: Case, argument: Operand, negative: bool) -> tuple[Remedy, ...]:
    if comes_from(argument, "_softmax", "softmax"):
        return (Remedy(title="compute it from the logits: `F.log_softmax` or `F.cross_entropy`"),)
    if comes_from(argument, "sigmoid"):
        return (Remedy(title="compute it from the logits: `F.logsigmoid` or `F.binary_cross_entropy_with_logits`"),)
    if not negative and comes_from(argument, *_DETERMINANTS):
        return (Remedy(title="take the logarithm of the determinant at once, `torch.logdet`: its product underflows"),)
    if not negative and comes_from(argument, "prod"):
        return (Remedy(title="add logarithms instead of multiplying first: `x.log().sum()` cannot underflow"),)
    if negative:
        return (Remedy(title=f"keep {text(argument)} positive, for example by `F.softplus` on what it is made of"),)
    return (Remedy(title=f"clamp the argument: `{case.name}` of {text(argument)} clamped to at least 1e-8"),)
