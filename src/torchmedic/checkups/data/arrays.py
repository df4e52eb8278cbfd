"""Arrays, wherever they come from: looked at in pieces, so that a memory-mapped file stays on the disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torchmedic.checkups.data.options import Listing, unlisted
from torchmedic.facts import ArraySeen, Cell, LabelColumn, Observation

_PIECE = 32 << 20
_LARGEST_HALF = 65504.0
_MOST_LISTED = 5
_LABEL = re.compile(r"(?:^|[._\]'\"/])(?:y|labels?|targets?)(?:_(?:train|test|val))?['\"\]]*$", re.IGNORECASE)
_IN_LIST = re.compile(r"\[(\d+)\]")
_MASK = re.compile(r"mask|segm", re.IGNORECASE)
_NAMED = re.compile(r"(?:^|[._\]'\"/])(?:ids?|idx|index|indices|times?|timestamps?|ts)['\"\]]*$", re.IGNORECASE)
# Seconds since 1970 of the years 2000 to 2040.
_UNIX = (9.4e8, 2.3e9)
# How far each type of floats holds every whole number.
_WHOLE_TO = {"float16": 1 << 11, "bfloat16": 1 << 8, "float32": 1 << 24}
_SOME, _MANY = 10_000, 64
_IN_NUMPY = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


def purpose_of(name: str) -> str:
    """mask, label or empty, by the name of an array.

    >>> purpose_of("train_masks"), purpose_of("y_train"), purpose_of("x")
    ('mask', 'label', '')
    """
    return "label" if _LABEL.search(name) else "mask" if _MASK.search(name) else ""


@dataclass
class _Tally:
    source: str
    name: str
    listing: Listing
    numbers: Sequence[int] = ()
    nan: int = 0
    inf: int = 0
    beyond_half: int = 0
    lows: list[float] = field(default_factory=list)
    highs: list[float] = field(default_factory=list)
    smallest: list[float] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    flat: int = 0
    flat_items: list[int] = field(default_factory=list)
    flat_values: list[float] = field(default_factory=list)
    column_low: Any = None
    column_high: Any = None

    def at(self, position: int) -> int:
        """The number of an item in the data that the array was taken from."""
        return self.numbers[position] if self.numbers else int(position)

    def row(self, position: int) -> int:
        """What the item is a row of: in a list of arrays or graphs these are the rows, whatever they hold."""
        listed = None if self.numbers else _IN_LIST.match(self.name)
        return int(listed[1]) if listed else self.at(position)


def array_facts(
    source: str,
    name: str,
    array: np.ndarray,
    purpose: str | None = None,
    listing: Listing = unlisted,
    numbers: Sequence[int] = (),
) -> Iterator[Observation]:
    """What is seen of one array. Every bad place goes to `listing`, some of them into the facts.

    `numbers` are those of its items in the data, where some were left out.
    """
    kind = purpose_of(name) if purpose is None else purpose
    tally = _Tally(source=source, name=name, listing=listing, numbers=numbers)
    if array.dtype.kind in "fiub" and array.size:
        for start, piece in _pieces(array):
            _count(tally, piece, start, kind)
    yield ArraySeen(
        source=source,
        name=name,
        shape=tuple(int(size) for size in array.shape),
        dtype=str(array.dtype),
        purpose=kind,
        nan=tally.nan,
        inf=tally.inf,
        minimum=min(tally.lows, default=None),
        maximum=max(tally.highs, default=None),
        smallest=min(tally.smallest, default=None),
        beyond_half=tally.beyond_half,
        flat=tally.flat,
        flat_items=tuple(tally.flat_items),
        flat_value=tally.flat_values[0] if tally.flat_values else None,
        flat_columns=_flat_columns(tally, array),
        coarse=_coarse(tally, array),
        cells=tuple(tally.cells[:_MOST_LISTED]),
    )
    if kind == "label" and array.ndim == 1 and array.dtype.kind in "iu" and array.size:
        yield _labels(source, name, array)


def _pieces(array: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The array along its first axis, a piece at a time."""
    if array.ndim == 0:
        yield 0, array.reshape(1)
        return
    item = max(1, array.nbytes // max(1, len(array)))
    step = max(1, _PIECE // item)
    for start in range(0, len(array), step):
        yield start, np.asarray(array[start : start + step])


def _count(tally: _Tally, piece: np.ndarray, start: int, kind: str) -> None:
    floating = piece.dtype.kind == "f"
    values = piece
    if floating:
        finite = np.isfinite(piece)
        if not finite.all():
            _count_bad(tally, piece, finite, start)
            values = piece[finite]
    if values.size:
        tally.lows.append(float(values.min()))
        tally.highs.append(float(values.max()))
        if floating:
            size = np.abs(values)
            tally.beyond_half += int((size > _LARGEST_HALF).sum()) if piece.dtype != np.float16 else 0
            some = size[size > 0]
            tally.smallest += [float(some.min())] if some.size else []
    if piece.ndim >= 3 and kind != "weight":
        _count_flat(tally, piece, start)
    if piece.ndim == 2 and kind != "weight":
        low, high = piece.min(axis=0), piece.max(axis=0)
        tally.column_low = low if tally.column_low is None else np.minimum(tally.column_low, low)
        tally.column_high = high if tally.column_high is None else np.maximum(tally.column_high, high)


def _count_bad(tally: _Tally, piece: np.ndarray, finite: np.ndarray, start: int) -> None:
    nan = int(np.isnan(piece).sum())
    tally.nan += nan
    tally.inf += int(piece.size - finite.sum()) - nan
    bad = np.argwhere(~finite)
    for index in bad[: _MOST_LISTED - len(tally.cells)]:
        shown = f"{_placed(tally, index, start)} = {piece[tuple(index)]}"
        tally.cells.append(Cell(row=tally.row(index[0] + start), text=shown))
    if tally.listing is not unlisted:
        for index in bad:
            value = piece[tuple(index)]
            trouble = "nan" if value != value else "inf"
            place = _placed(tally, index, start)
            tally.listing(tally.source, tally.row(index[0] + start), place, trouble, str(value))


def _placed(tally: _Tally, index: np.ndarray, start: int) -> str:
    return f"{tally.name}[{', '.join(map(str, (tally.at(index[0] + start), *map(int, index[1:]))))}]"


def _count_flat(tally: _Tally, piece: np.ndarray, start: int) -> None:
    items = piece.reshape(len(piece), -1)
    if items.shape[1] < 4:
        return
    flat = np.flatnonzero(items.min(axis=1) == items.max(axis=1))
    tally.flat += len(flat)
    for i in flat if tally.listing is not unlisted else ():
        tally.listing(tally.source, tally.row(int(i) + start), tally.name, "single-value", str(items[i, 0]))
    room = _MOST_LISTED - len(tally.flat_items)
    tally.flat_items += [tally.at(int(i) + start) for i in flat[:room]]
    tally.flat_values += [float(items[i, 0]) for i in flat[:room]]


def _flat_columns(tally: _Tally, array: np.ndarray) -> tuple[int, ...]:
    if tally.column_low is None or len(array) < 2 or array.shape[1] < 2:
        return ()
    return tuple(int(i) for i in np.flatnonzero(tally.column_low == tally.column_high))


def _coarse(tally: _Tally, array: np.ndarray) -> str:
    """The type of floats that cannot tell neighbours apart among the ids or times of an array; empty where it can."""
    if str(array.dtype) not in _WHOLE_TO or not tally.highs:
        return ""
    low, high = min(tally.lows), max(tally.highs)
    is_time = _UNIX[0] <= low < high <= _UNIX[1]
    if not is_time and (low < 0 or high <= _WHOLE_TO["bfloat16"] or not _NAMED.search(tally.name)):
        return ""
    kind = str(array.dtype)
    if kind == "float32" and _has_many(array) and all(_is_bfloat16(piece) for _, piece in _pieces(array)):
        kind = "bfloat16"
    if high <= _WHOLE_TO[kind] or not all(bool((piece == np.floor(piece)).all()) for _, piece in _pieces(array)):
        return ""
    return kind


def _has_many(array: np.ndarray) -> bool:
    """Whether there are so many large numbers that those of a finer type would show it."""
    some = np.unique(np.asarray(array[:_SOME]))
    return int((some > _WHOLE_TO["bfloat16"]).sum()) >= _MANY


def _is_bfloat16(piece: np.ndarray) -> bool:
    """Whether float32 holds nothing that bfloat16 would not, which NumPy does not know."""
    return not (np.ascontiguousarray(piece).view(np.uint32) & 0xFFFF).any()


def _labels(source: str, name: str, array: np.ndarray) -> LabelColumn:
    values, counts = np.unique(np.asarray(array), return_counts=True)
    kept = [(int(v), int(n)) for v, n in zip(values, counts, strict=True) if v != -100]
    runs = int((np.diff(array.astype(np.int64)) != 0).sum()) + 1
    return LabelColumn(
        source=source,
        column=name,
        guessed=True,
        rows=len(array),
        whole=True,
        distinct=len(kept),
        minimum=min((float(v) for v, _ in kept), default=None),
        maximum=max((float(v) for v, _ in kept), default=None),
        ignored=len(array) - sum(n for _, n in kept),
        classes=tuple((str(v), n) for v, n in sorted(kept, key=lambda pair: pair[1])[:1000]),
        runs=runs,
    )


def as_numpy(tensor: Any) -> np.ndarray:
    """A torch tensor as an array: bfloat16 and the 8-bit floats as float32, sparse ones by their values."""
    import torch

    plain = tensor.detach()
    if plain.layout != torch.strided:
        plain = plain.coalesce().values() if plain.layout == torch.sparse_coo else plain.values()
    if plain.is_complex():
        plain = torch.view_as_real(plain)
    if plain.dtype not in {getattr(torch, name) for name in _IN_NUMPY}:
        plain = plain.float()
    array: np.ndarray = plain.cpu().numpy()
    return array
