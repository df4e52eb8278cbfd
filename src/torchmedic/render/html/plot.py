"""Charts as static pictures: lines that stretch with the page, with labels that do not."""

from __future__ import annotations

import math

from markupsafe import Markup

from torchmedic.render.html.curves import Chart, Line, Points
from torchmedic.render.html.numbers import short

_W, _H = 1000.0, 1000.0
_MOST_POINTS = 700
_SPARE = " spare"  # every second name of an epoch, for which a narrow page has no room


class Scale:
    """From values to places between 0 and 1."""

    def __init__(self, low: float, high: float, *, is_log: bool = False) -> None:
        self.is_log = is_log
        self.low, self.high = (math.log10(low), math.log10(high)) if is_log else (low, high)
        if self.high <= self.low:
            room = abs(self.low) * 0.05 or 1.0
            self.low, self.high = self.low - room, self.high + room

    def place(self, value: float) -> float:
        known = math.log10(value) if self.is_log else value
        return (known - self.low) / (self.high - self.low)

    def ticks(self, count: int, *, least: float = 0.0) -> list[float]:
        """Round values inside the scale, not closer than `least`.

        >>> Scale(0, 10).ticks(5), Scale(1, 3).ticks(5, least=1)
        ([0.0, 2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0])
        """
        step = _round_step(max((self.high - self.low) / count, least))
        first = math.ceil(self.low / step - 1e-9)
        places = [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]
        return [10.0**place for place in places] if self.is_log else places


def _round_step(rough: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(rough))
    return next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= rough * 0.999)


def static_plot(chart: Chart, *, has_picture: bool = True) -> Markup:
    """The chart as a picture that needs no script; without it, the place for one that is the same elsewhere."""
    values = chart.finite
    if not values:
        return Markup("")
    x = [place for line in chart.lines for place in line.x] + [mark.x for mark in chart.marks]
    x += [epoch.end for epoch in chart.phases.epochs]
    across, up = Scale(min(x), max(x)), Scale(min(values), max(values), is_log=chart.is_log)
    body = _drawn(chart, across, up) if has_picture else ""
    return Markup(
        '<div class="plot"><svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true" '
        'data-same="{id}">{body}</svg>{labels}</div>'
    ).format(id=chart.id, body=body, labels=_labels(chart, across, up))


def _drawn(chart: Chart, across: Scale, up: Scale) -> Markup:
    lines = Markup("").join(
        _line(line, number, across, up, is_stepped=chart.is_stepped) for number, line in enumerate(chart.lines)
    )
    marks = Markup("").join(
        Markup('<path class="mark {kind}" d="M{x:.1f} 0V1000"/>').format(kind=mark.kind, x=across.place(mark.x) * _W)
        for mark in chart.marks
    )
    grid = Markup("").join(
        Markup('<path class="grid" d="M0 {y:.1f}H1000"/>').format(y=_H - up.place(tick) * _H) for tick in up.ticks(4)
    )
    return _phases(chart, across) + grid + marks + lines


def _phases(chart: Chart, across: Scale) -> Markup:
    """Every second epoch in another shade, a mark at the bottom for each evaluation."""
    shades = "".join(
        f"M{across.place(max(epoch.start, across.low)) * _W:.1f} 0H{across.place(epoch.end) * _W:.1f}V1000"
        f"H{across.place(max(epoch.start, across.low)) * _W:.1f}z"
        for epoch in chart.phases.epochs[1::2]
    )
    marks = "".join(f"M{across.place(step) * _W:.1f} 1000v-40" for step in chart.phases.evaluations)
    drawn = Markup('<path class="epoch" d="{}"/>').format(shades) if shades else Markup("")
    return drawn + (Markup('<path class="evaluation" d="{}"/>').format(marks) if marks else "")


def _line(line: Line, number: int, across: Scale, up: Scale, *, is_stepped: bool) -> Markup:
    stride = max(1, -(-len(line.x) // _MOST_POINTS))
    x = [across.place(value) * _W for value in line.x[::stride]]
    band = ""
    if line.low:
        high, low = (_heights(part[::stride], up) for part in (line.high, line.low))
        known = [(a, b, c) for a, b, c in zip(x, high, low, strict=True) if b is not None and c is not None]
        outline = [f"{a:.1f} {b:.1f}" for a, b, _ in known] + [f"{a:.1f} {c:.1f}" for a, _, c in reversed(known)]
        band = Markup('<path class="band s{n}" d="M{d}Z"/>').format(n=number % 6, d="L".join(outline)) if known else ""
    path = _path(x, _heights(line.y[::stride], up), is_stepped=is_stepped)
    return Markup('{band}<path class="line s{n}" d="{d}"/>').format(band=band, n=number % 6, d=path)


def _heights(values: Points, up: Scale) -> list[float | None]:
    """Distances from the top; None for what cannot be drawn."""
    return [
        None if value is None or not math.isfinite(value) or (up.is_log and value <= 0) else _H - up.place(value) * _H
        for value in values
    ]


def _path(x: list[float], y: list[float | None], *, is_stepped: bool) -> str:
    parts: list[str] = []
    pen_is_down = False
    for across, down in zip(x, y, strict=True):
        if down is None:
            pen_is_down = False
        elif not pen_is_down:
            parts.append(f"M{across:.1f} {down:.1f}h0")
            pen_is_down = True
        else:
            parts.append(f"H{across:.1f}V{down:.1f}" if is_stepped else f"L{across:.1f} {down:.1f}")
    return "".join(parts)


def _labels(chart: Chart, across: Scale, up: Scale) -> Markup:
    label = Markup('<span class="{kind}" style="{side}:{place:.2f}%">{words}</span>')
    parts = [
        label.format(kind="tick up", side="bottom", place=100 * up.place(tick), words=short(tick))
        for tick in up.ticks(4)
    ]
    parts += [
        label.format(kind="tick across", side="left", place=100 * across.place(tick), words=f"{tick:g}")
        for tick in across.ticks(5, least=1)
    ]
    for mark in chart.marks:
        place = 100 * across.place(mark.x)
        side, place = ("left", place) if place < 60 else ("right", 100 - place)
        parts.append(label.format(kind=f"mark-label {mark.kind}", side=side, place=place, words=mark.label))
    for number, epoch in enumerate(epoch for epoch in chart.phases.epochs if epoch.label):
        middle = (max(epoch.start, across.low) + epoch.end) / 2
        kind = f"epoch-label{number % 2 * _SPARE}"
        parts.append(label.format(kind=kind, side="left", place=100 * across.place(middle), words=epoch.label))
    return Markup("").join(parts)
