"""Whether a line of preparation divides by a spread, and whether it does so group by group."""

from __future__ import annotations

import re

from torchmedic.facts import Birth
from torchmedic.rules.numerics._births import words

_SPREAD = re.compile(r"(?i)\b\w*(?:std|stdev|sigma|stddev|variance)\w*\b|\b(?:sd|var|scale_?)\b|\.var\(")
_LOGS = {"log", "log2", "log10", "log1p"}
_GROUPING = {"groupby", "transform", "agg", "aggregate", "map", "over", "group_by"}


def divides_by_spread(birth: Birth) -> bool:
    """`(x - mean) / std`, in one line."""
    if "/" not in words(birth):
        return False
    if any(_SPREAD.search(label.partition(":")[0]) for label in birth.zero_at):
        return True
    # By its name alone a divisor is not believed to be 0 where the line has a logarithm: `log(size) / variance`.
    if words(birth) & _LOGS:
        return False
    divisor = birth.expression.rpartition("/")[2]
    return _SPREAD.search(divisor) is not None


def is_per_group(birth: Birth) -> bool:
    return bool(words(birth) & _GROUPING)
