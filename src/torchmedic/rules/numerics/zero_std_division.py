"""Normalisation by a standard deviation that is 0."""

from __future__ import annotations

import re

from torchmedic.facts import Birth
from torchmedic.findings import Remedy
from torchmedic.rules.data._preparing import column_list, field_of, reached, variable_text, zero_labels
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case, text
from torchmedic.rules.numerics._divisions import is_spread, zero_divisor
from torchmedic.rules.numerics._reading import at_step, fitted, short
from torchmedic.rules.numerics._spreads import divides_by_spread, is_per_group

_HIDES = Remedy(title="`std + 1e-17` only hides it: rounding noise divided by 1e-17 becomes values of any size")


class ZeroStdDivision(NumericsRule):
    """A constant column has no spread to divide by."""

    code = "NUM004"
    name = "zero-std-division"
    tell_apart = "the divisor is a standard deviation or variance, and it is 0"
    rank = 11

    def explain(self, case: Case) -> Explanation | None:
        if case.birth is not None:
            if divides_by_spread(case.birth) and not is_per_group(case.birth):
                return _in_preparation(case, case.birth)
            return None
        divisor = zero_divisor(case)
        if divisor is None or case.op is None or not is_spread(divisor):
            return None
        zeros = divisor.tensor.zeros or 1
        return Explanation(
            headline=fitted(
                f"division by a zero standard deviation: `{short(divisor.name)}` is 0 {at_step(case)}",
                f"division by a zero standard deviation {at_step(case)}",
            ),
            where=case.op.where,
            mark=divisor.name,
            label=f"0 in {zeros} of {divisor.tensor.numel} places",
            tensor=divisor.name or None,
            remedies=(
                Remedy(title=f"divide by {text(divisor, 'the deviation')} with a floor: `.clamp_min(1e-6)`"),
                _HIDES,
            ),
            tries=("divisor",),
        )


def _in_preparation(case: Case, birth: Birth) -> Explanation:
    names = column_list(birth) or variable_text(birth)
    # Columns of an array have no names, only numbers.
    constant = re.sub(r"`(\d+)`", r"column \1", zero_labels(birth))
    return Explanation(
        headline=fitted(
            f"division by a zero standard deviation made {names} non-finite",
            f"division by a zero standard deviation in `{birth.variable}`",
        ),
        where=birth.where,
        label=f"the standard deviation is 0 for {constant}" if constant else "the standard deviation is 0 here",
        notes=tuple(reached(case, birth)),
        remedies=(
            Remedy(title="drop what is constant, or divide by the deviation with a floor, for example 1e-6"),
            _HIDES,
        ),
        tensor=birth.variable,
        field=field_of(case),
        examples=birth.rows,
        rows=birth.bad,
    )
