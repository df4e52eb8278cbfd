"""How a column of an array of data is called, and whether a model is given a far-off number in one."""

from __future__ import annotations

from torchmedic.facts import HeldCode, HeldColumn, InputSeen, Run

_LEAST_SEEN = 5


def column_of(seen: HeldCode | HeldColumn) -> str:
    """The array, with the number and the name of the column where it has several."""
    if seen.columns < 2:
        return f"`{seen.name}`"
    return (
        f"column {seen.column} ({seen.label}) of `{seen.name}`"
        if seen.label
        else f"column {seen.column} of `{seen.name}`"
    )


def far_input(run: Run) -> InputSeen | None:
    """The first input in which a column holds a number far from all others, the same in several steps."""
    times: dict[tuple[str, int, str], int] = {}
    for seen in run.all(InputSeen):
        for column, value, count in seen.far:
            key = (str(seen.layer_built), column, f"{value:.3g}")
            times[key] = times.get(key, 0) + count
            if times[key] >= _LEAST_SEEN:
                return seen
    return None
