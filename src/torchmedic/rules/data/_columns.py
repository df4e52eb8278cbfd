"""How a column of an array of data is called, and whether a model is given a far-off number in one."""

from __future__ import annotations

from torchmedic.facts import HeldCode, HeldColumn, HeldTable, InputSeen, Run

_LEAST_SEEN = 5
_ALIKE = 0.3  # of the mean, from a batch to the whole table


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


def largest(seen: InputSeen) -> tuple[int, list[float]]:
    """The largest column of an input, and the sizes of all."""
    sizes = [abs(mean) + spread for mean, spread in zip(seen.means, seen.spreads, strict=True)]
    return max(range(len(sizes)), key=sizes.__getitem__), sizes


def table_behind(run: Run, seen: InputSeen, column: int) -> HeldTable | None:
    """The table of the script that the column comes from: one with a column of this mean and spread."""
    mean, spread = seen.means[column], seen.spreads[column]
    found = [
        table
        for table in run.all(HeldTable)
        for m, s in zip(table.means, table.spreads, strict=True)
        if abs(m - mean) <= spread and abs(m - mean) <= _ALIKE * abs(mean) and s <= 2 * spread <= 4 * s
    ]
    return min(found, key=lambda table: abs(len(table.means) - len(seen.means)), default=None)
