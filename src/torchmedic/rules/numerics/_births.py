"""Chooses, among the lines of preparation after which something was not finite, the one behind a bad batch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from torchmedic.facts import Birth, Source

_MOST_LABELS = 8
_REARRANGING = frozenset(
    ("view", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "contiguous", "clone", "expand")
)
# Lines that bring columns of another table along, which need not be a variable whose values could be looked at before.
JOINS = frozenset(
    ("merge", "join", "reindex", "merge_asof", "concat", "map", "align", "pivot", "pivot_table", "unstack")
)


def birth_behind(source: Source, births: Iterable[Birth]) -> Birth | None:
    """The earliest line that made, out of finite values, what the source holds.

    Lines that only pass bad values on are left out; so are loop headers, whose names are bound to them. A line that
    writes NaN or infinity down is usually a mask, and is believed only when nothing else is left.
    """
    infinite, every = _is_infinite(source), list(births)
    told = [b for at, b in enumerate(every) if not (infinite and _came_back(b, every[:at]))]
    fresh = [b for b in told if b.expression and not inherits(b, infinite=infinite) and not _only_rearranges(b)]
    lines = [[b] for b in fresh] if infinite else _with_followers(fresh)
    fresh = [first for first, *_ in lines]
    made = [b for b in fresh if not _is_placed(b)]
    fitting = [b for b in made if _same_kind(source, b)] or [b for b in made if _may_become(source)]
    fitting = fitting or [b for b in fresh if _same_kind(source, b)]
    fitting = [b for b in fitting if _columns_fit(source, b)] or fitting
    reached = [first for first, *later in lines if any(_holds_the_sample(source, b) for b in (first, *later))]
    reaching = [b for b in fitting if b in reached] or fitting
    return _whole_line(reaching[0], fitting) if reaching else None


def inherits(birth: Birth, *, infinite: bool = False) -> bool:
    """Whether the line was handed bad values; NaN among them is innocent of an infinity."""
    if birth.was_handed and not infinite:
        return True
    return any((0 if infinite else o.tensor.nan or 0) + (o.tensor.inf or 0) > 0 for o in birth.operands)


def _came_back(birth: Birth, before: list[Birth]) -> bool:
    """Whether an infinity came back from a function that a line calls: a line of that function had made it."""
    makers = [b for b in before if b.bad > b.nan and not b.was_handed and not _is_placed(b)]
    return birth.was_handed and any(_place(b) != _place(birth) for b in makers)


def _place(birth: Birth) -> tuple[str, str]:
    return birth.where.file, birth.where.function


def _is_infinite(source: Source) -> bool:
    return source.value != "nan" and not source.tensor.nan and bool(source.tensor.inf)


def words(birth: Birth) -> set[str]:
    """Operators and functions of the line."""
    return set(birth.operator.split())


def _only_rearranges(birth: Birth) -> bool:
    """Whether a line gives its values another shape: out of finite ones it makes nothing else."""
    return bool(words(birth)) and words(birth) <= _REARRANGING


def _with_followers(births: list[Birth]) -> list[list[Birth]]:
    """Every birth that stands on its own, each with the later lines that had their bad values from it."""
    found: list[list[Birth]] = []
    for birth in births:
        behind = next((line for line in found if any(_hands_on(earlier, birth) for earlier in line)), None)
        if behind is not None:
            behind.append(birth)
        else:
            found.append([birth])
    return found


def _hands_on(earlier: Birth, later: Birth) -> bool:
    """Whether a line joins a column that was bad already, or computes with it by its name."""
    names = {column for column in earlier.columns if not column.isdigit()}
    if not names or earlier.where == later.where:
        return False
    joined = bool(words(later) & JOINS) and set(later.columns) <= names
    return joined or any(re.search(rf"""['"]{re.escape(name)}['"]""", later.expression) for name in names)


def _same_kind(source: Source, birth: Birth) -> bool:
    if source.value == "nan" or (source.tensor.nan or 0) > 0:
        return birth.nan > 0
    return birth.bad > birth.nan


def _may_become(source: Source) -> bool:
    """Infinity turns into NaN on the way: `(inf - mean) / std`."""
    return (source.tensor.nan or 0) > 0


def _is_placed(birth: Birth) -> bool:
    """A mask or a placeholder that was written down as such."""
    return re.search(r"\binf\b|-inf|\bnan\b", birth.expression.lower()) is not None


def _columns_fit(source: Source, birth: Birth) -> bool:
    if not source.columns or birth.holder not in ("array", "tensor") or len(birth.columns) >= _MOST_LABELS:
        return True
    return not birth.columns or bool({str(c) for c in source.columns} & set(birth.columns))


def _holds_the_sample(source: Source, birth: Birth) -> bool:
    if source.sample is None or len(birth.rows) >= _MOST_LABELS or not all(r.isdigit() for r in birth.rows):
        return True
    return str(source.sample) in birth.rows


def _whole_line(first: Birth, births: list[Birth]) -> Birth:
    """A line that runs in a loop is told with everything it made."""
    same = [b for b in births if (b.where.file, b.where.line) == (first.where.file, first.where.line)]
    columns = tuple(dict.fromkeys(c for b in same for c in b.columns))
    return replace(max(same, key=lambda b: b.bad), columns=columns, zero_at=first.zero_at)
