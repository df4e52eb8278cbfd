"""Dates in columns of text, so that earlier ones sort before later ones."""

from __future__ import annotations

from torchmedic.checkups.data.engine import Column, Table

# The share of texts that must be dates of one form.
_MOSTLY = 0.9
_YEAR_FIRST = "^[0-9]{4}(-[0-9]{2}-|/[0-9]{2}/|[.][0-9]{2}[.]|[0-9]{4}([^0-9]|$))"
_YEAR_LAST = "^[0-9]{1,2}([/.-])[0-9]{1,2}[/.-][0-9]{4}"
_MONTHS = 12


def sortable(small: Table, column: Column) -> str | None:
    """An expression that sorts by time; None where the order cannot be told.

    Of days the first rows tell whether the day or the month is written first. Texts that begin with the year sort as
    they are.
    """
    if column.family == "time":
        return f"CAST({column.sql} AS STRING)"
    if column.family != "text":
        return None
    c = column.sql
    first, second = (f"try_cast({_part(c, i)} AS INTEGER)" for i in (1, 2))
    rows, year_first, year_last, low, high = small.query(
        f"SELECT count({c}), count(*) FILTER (WHERE regexp_matches({c}, '{_YEAR_FIRST}')), "
        f"count(*) FILTER (WHERE regexp_matches({c}, '{_YEAR_LAST}')), max({first}), max({second}) FROM {{t}}"
    )[0]
    if not rows:
        return None
    if year_first >= _MOSTLY * rows:
        return f"CASE WHEN {c} >= '0' AND {c} < ':' THEN {c} END"
    # With both up to twelve, or both beyond, nobody can tell the day from the month.
    if year_last < _MOSTLY * rows or (low > _MONTHS) == (high > _MONTHS):
        return None
    day, month = (1, 2) if low > _MONTHS else (2, 1)
    return _day_of(c, day, month)


def _part(c: str, number: int) -> str:
    return f"split_part(translate({c}, '.-', '//'), '/', {number})"


def _day_of(c: str, day: int, month: int) -> str:
    """A day as 2024-01-31, without the hour."""
    year = _part(c, 3)
    written = f"substr({year}, 1, 4), '-', lpad({_part(c, month)}, 2, '0'), '-', lpad({_part(c, day)}, 2, '0')"
    return f"CASE WHEN length({year}) >= 4 THEN concat({written}) END"
