"""What a division by zero was a division by: told by the operations that made the divisor, or by its name."""

from __future__ import annotations

import re

from torchmedic.facts import Operand
from torchmedic.rules.numerics._case import Case, comes_from, has_zero

SPREADS = ("std", "var", "var_mean", "std_mean", "std_", "var_")
NORMS = ("linalg_vector_norm", "norm", "vector_norm", "linalg_norm")
EXTREMES = ("max", "min", "amax", "amin", "aminmax")
COUNTS = ("sum", "count_nonzero", "bincount", "scatter_add", "index_add", "numel")
_SPREAD_NAME = re.compile(r"(?i)(?:^|[_.\W])(?:std|stdev|sigma|sd|var|variance|stddev)(?:$|[_.\W\d])")
_COUNT_NAME = re.compile(r"(?i)(?:mask|count|valid|keep(?!dim)|length|weights?|present|num_|^n_)")


def zero_divisor(case: Case) -> Operand | None:
    """The divisor of the guilty division, if it is 0 at the bad place."""
    divisor = case.divisor
    return divisor if divisor is not None and not case.in_backward and has_zero(divisor) else None


def is_spread(divisor: Operand | None) -> bool:
    return divisor is not None and (comes_from(divisor, *SPREADS) or _SPREAD_NAME.search(divisor.name) is not None)


def is_norm(divisor: Operand | None) -> bool:
    return comes_from(divisor, *NORMS)


def is_extreme(divisor: Operand | None) -> bool:
    return comes_from(divisor, *EXTREMES)


def is_count(divisor: Operand | None) -> bool:
    return divisor is not None and (comes_from(divisor, *COUNTS) or _COUNT_NAME.search(divisor.name) is not None)
