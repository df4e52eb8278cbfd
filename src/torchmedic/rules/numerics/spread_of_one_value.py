"""The standard deviation of a single value."""

from __future__ import annotations

from torchmedic.facts import Birth
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import field_of, reached
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._births import words
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted, short

_SPREADS = ("std", "var", "std_mean", "var_mean")


class SpreadOfOneValue(NumericsRule):
    """With Bessel's correction the spread of one value is 0 / 0."""

    code = "NUM014"
    name = "spread-of-one-value"
    tell_apart = "`std` or `var` ran over one element only"
    rank = 12

    def explain(self, case: Case) -> Explanation | None:
        birth = case.birth
        if birth is not None:
            return _in_preparation(case, birth)
        op, argument = case.op, case.first
        if op is None or argument is None or case.name not in _SPREADS or not op.makes_nan:
            return None
        result = op.result.numel if op.result is not None else 1
        if result == 0 or argument.tensor.numel > result:
            return None
        return Explanation(
            headline=fitted(
                f"`{case.name}` of a single value is NaN: `{short(argument.name)}` is {argument.tensor} {at_step(case)}"
            ),
            where=op.where,
            mark=op.expression,
            label="divides by n - 1, which is 0",
            tensor=argument.name or None,
            remedies=(Remedy(title="pass `correction=0`, or leave out batches of one sample (`drop_last=True`)"),),
            tries=("spread of a single value",),
        )


def _in_preparation(case: Case, birth: Birth) -> Explanation | None:
    said = words(birth)
    if "/" in said or not said & {"std", "var"} or not birth.nan:
        return None
    return Explanation(
        headline=fitted(f"the standard deviation of groups with one row made `{birth.variable}` NaN"),
        where=birth.where,
        label="NaN where a group has one row",
        notes=tuple(reached(case, birth)),
        remedies=(Remedy(title="compute it with `ddof=0`, or fill the deviation of groups with one row"),),
        tensor=birth.variable,
        field=field_of(case),
        examples=birth.rows,
        rows=birth.bad,
    )
