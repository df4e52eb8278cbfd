"""How large gradients and weights of each layer were over the run: a matrix, and a small picture of it."""

from __future__ import annotations

import base64
import math
import re
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from torchmedic.facts import LayersWatched, Run, Series, SickStep
from torchmedic.facts.series import ACTIVATION, GRADIENT, LAYER_KINDS, WEIGHT
from torchmedic.render.html.numbers import fitted, short
from torchmedic.render.html.text import Words, phrase, say

_NAMES = {GRADIENT: "layers_gradient", WEIGHT: "layers_weight", ACTIVATION: "layers_activation"}
# From small to large: dark blue, teal, green, yellow. Lightness rises all the way, for those who see no hue.
_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
_BAD = (224, 0, 112)
_NOTHING = (0, 0, 0)
_SHADES = 64
_BAD_CELL = "bad"
_ROOMY, _TIGHT = 38, 22  # characters for a name beside the picture, on a wide page and on a narrow one

Cell = float | str | None


@dataclass(frozen=True, kw_only=True)
class HeatMap:
    """Logarithms of norms: a row for each layer, a column for each place. None was not seen, "bad" was not finite."""

    id: str
    kind: Words
    summary: Words
    layers: tuple[str, ...]
    steps: tuple[int, ...]
    cells: tuple[tuple[Cell, ...], ...]
    low: float
    high: float
    began: Words = ""
    has_bad: bool = False

    @property
    def scale(self) -> str:
        return say("layers_scale", low=short(10**self.low), high=short(10**self.high))

    @property
    def roomy(self) -> list[str]:
        """The names as they fit beside the picture."""
        return [fitted(name, _ROOMY) for name in self.layers]

    @property
    def tight(self) -> list[str]:
        """The same where the page is narrow."""
        return [fitted(name, _TIGHT) for name in self.layers]

    @property
    def shown_layers(self) -> list[tuple[float, str, str]]:
        """Names that have room one below the other, each with its place from the top in per cent."""
        stride = -(-len(self.layers) // 40)
        places = (100 * (row + 0.5) / len(self.layers) for row in range(len(self.layers)))
        return list(zip(places, self.roomy, self.tight, strict=True))[::stride]

    @property
    def height(self) -> int:
        return max(96, min(16 * len(self.layers), 640))


def heat_maps(run: Run, series: Iterable[Series]) -> list[HeatMap]:
    """One map for each kind of series that was sampled."""
    given = list(series)
    watched = run.all(LayersWatched)
    names = [name for seen in watched for name in seen.names]
    # Gradients and weights are known by the parameter, outputs by the layer that holds it.
    order = {known: number for number, name in enumerate(names) for known in (name, name.rpartition(".")[0])}
    maps = (_heat_map(kind, [s for s in given if s.name.startswith(kind)], order, run) for kind in LAYER_KINDS)
    return [found for found in maps if found is not None]


def _heat_map(kind: str, series: list[Series], order: dict[str, int], run: Run) -> HeatMap | None:
    by_layer = {s.name.removeprefix(kind): dict(zip(s.steps, s.values, strict=True)) for s in series if s.steps}
    layers = sorted(by_layer, key=lambda name: (order.get(name, len(order)), _natural(name)))
    sick = run.first(SickStep) if kind == GRADIENT else None
    if sick is not None and sick.step is not None:
        for name in layers:
            if name in sick.bad_parameters:
                by_layer[name][sick.step] = None
    steps = sorted({step for values in by_layer.values() for step in values})
    if len(steps) < 2:
        return None
    cells = tuple(tuple(_cell(by_layer[name], step) for step in steps) for name in layers)
    known = [cell for row in cells for cell in row if isinstance(cell, float)]
    if not known:
        return None
    bad = [(column, row) for row, line in enumerate(cells) for column, cell in enumerate(line) if cell == _BAD_CELL]
    first = min(bad, default=None)
    named = phrase(_NAMES[kind])
    summary = phrase(
        "layers_summary",
        kind=named,
        count=len(layers),
        columns=len(steps),
        first=steps[0],
        last=steps[-1],
    )
    return HeatMap(
        id=f"heat-{kind.rstrip('/')}",
        kind=named,
        summary=summary,
        layers=tuple(layers),
        steps=tuple(steps),
        cells=cells,
        low=min(known),
        high=max(known),
        began=phrase("layers_began", layer=layers[first[1]], step=steps[first[0]]) if first else "",
        has_bad=bool(bad),
    )


def _cell(values: dict[int, float | None], step: int) -> Cell:
    if step not in values:
        return None
    value = values[step]
    if value is None or not math.isfinite(value):
        return _BAD_CELL
    # A gradient of exactly 0 has no logarithm: it is shown as the smallest that float32 can hold.
    return round(math.log10(max(value, 1e-38)), 3)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def picture(heat: HeatMap) -> str:
    """The map as a PNG in a data address: one dot for each cell, one byte for each dot."""
    span = (heat.high - heat.low) or 1.0
    rows = b"".join(b"\0" + bytes(_number(cell, heat.low, span) for cell in line) for line in heat.cells)
    header = struct.pack(">IIBBBBB", len(heat.steps), len(heat.layers), 8, 3, 0, 0, 0)
    colours = b"".join(bytes(colour) for colour in (_NOTHING, _BAD, *map(_colour, range(_SHADES))))
    parts = {b"IHDR": header, b"PLTE": colours, b"tRNS": b"\0", b"IDAT": zlib.compress(rows, 9), b"IEND": b""}
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts.items())
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _number(cell: Cell, low: float, span: float) -> int:
    """The place of a cell's colour in the palette: nothing, bad, then the shades."""
    if cell is None:
        return 0
    return 1 if isinstance(cell, str) else 2 + round((cell - low) / span * (_SHADES - 1))


def _colour(shade: int) -> tuple[int, ...]:
    place = shade / (_SHADES - 1) * (len(_COLOURS) - 1)
    below = min(int(place), len(_COLOURS) - 2)
    part = place - below
    return tuple(round(a + (b - a) * part) for a, b in zip(_COLOURS[below], _COLOURS[below + 1], strict=True))
