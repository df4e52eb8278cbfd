"""How a column of an array of data is called."""

from __future__ import annotations

from torchmedic.facts import HeldCode, HeldColumn


def column_of(seen: HeldCode | HeldColumn) -> str:
    """The array, with the number and the name of the column where it has several."""
    if seen.columns < 2:
        return f"`{seen.name}`"
    return (
        f"column {seen.column} ({seen.label}) of `{seen.name}`"
        if seen.label
        else f"column {seen.column} of `{seen.name}`"
    )
