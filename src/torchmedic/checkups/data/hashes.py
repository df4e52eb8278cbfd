"""Equal rows by their hashes, sorted outside of the engine: eight bytes a row, whatever the rows hold."""

from __future__ import annotations

from typing import Any

import numpy as np

_BATCH = 1 << 20
# Up to so many parts all are looked at; beyond, the first one says whether the others are worth their passes.
_ALWAYS = 4
# So many repeated hashes are kept to choose examples from.
_EXAMPLES = 10_000


def repeated_hashes(connection: Any, query: str, rows: int, room: int) -> tuple[int, Any]:
    """How many rows of a query of hashes are there again, and some hashes of theirs, the most frequent first.

    What has no room is taken in parts. Of very many parts the first one decides: clean tables cost one pass.
    """
    parts = max(1, -(-8 * rows // room))
    again, found = 0, []
    for part in range(parts):
        some = f" WHERE h % {parts} = {part}" if parts > 1 else ""
        count, hashes = _in_part(connection, f"SELECT h FROM ({query}){some}", min(rows, room // 8))
        again += count
        found.append(hashes)
        if parts > _ALWAYS and not again:
            break
    return again, np.concatenate(found)[:_EXAMPLES]


def _in_part(connection: Any, query: str, size: int) -> tuple[int, Any]:
    """Rows that are there again, by counting all and those that differ."""
    held = np.empty(size + _BATCH, dtype=np.uint64)
    filled, again, found = 0, 0, []
    for batch in connection.sql(query).to_arrow_reader(_BATCH):
        if filled + len(batch) > len(held):
            filled, lost, hashes = _without_repeats(held[:filled])
            again += lost
            found.append(hashes)
            if filled + len(batch) > len(held):
                held = np.concatenate([held, np.empty(len(held), dtype=np.uint64)])
        held[filled : filled + len(batch)] = _numbers(batch.column(0))
        filled += len(batch)
    _, lost, hashes = _without_repeats(held[:filled])
    return again + lost, np.concatenate([*found, hashes])


def _numbers(column: Any) -> Any:
    """An Arrow column without a copy; its own way there would load pandas, which takes longer than the query."""
    return np.frombuffer(column.buffers()[1], dtype=np.uint64)[column.offset : column.offset + len(column)]


def _without_repeats(hashes: Any) -> tuple[int, int, Any]:
    """Leaves each hash once, in order, at the beginning: their number, that of the others, and some of those."""
    hashes.sort()
    same = hashes[1:] == hashes[:-1]
    lost = int(same.sum())
    if not lost:
        return len(hashes), 0, hashes[:0]
    repeated, times = np.unique(hashes[1:][same], return_counts=True)
    most = repeated[np.argsort(-times, kind="stable")][:_EXAMPLES]
    left = len(hashes) - lost
    hashes[:left] = np.concatenate([hashes[:1], hashes[1:][~same]])
    return left, lost, most
