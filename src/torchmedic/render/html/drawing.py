"""The chain of a sick step as a picture: boxes below each other, joined by arrows."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from torchmedic.render.html.chain import Station
from torchmedic.render.html.numbers import cells, wrapped
from torchmedic.render.html.text import say

_WIDTH = 320
_PAD = 12
_TITLE, _DETAIL = 17, 15  # heights of a line
_TITLE_COLUMNS, _DETAIL_COLUMNS = 37, 44
_ARROW = 22


@dataclass(frozen=True)
class _Box:
    station: Station
    titles: list[str]
    details: list[str]
    top: int

    @property
    def height(self) -> int:
        return 2 * _PAD + _TITLE * len(self.titles) + _DETAIL * (len(self.details) + 1) - 4


def picture(stations: list[Station]) -> Markup:
    """An inline SVG of fixed width; colours come from the page's style."""
    boxes: list[_Box] = []
    top = 2
    for station in stations:
        titles = wrapped(station.title, _TITLE_COLUMNS, 2)
        details = [line for detail in station.details for line in wrapped(detail, _DETAIL_COLUMNS, 2)]
        boxes.append(_Box(station, titles, details, top))
        top += boxes[-1].height + _ARROW
    height = top - _ARROW + 2
    drawn = Markup("").join(_drawn(box, is_last=box is boxes[-1]) for box in boxes)
    told = say("chain_summary", count=len(stations), stations=" → ".join(s.title for s in stations))
    return Markup(
        '<svg class="chain" role="img" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}" '
        'height="{height}" xmlns="http://www.w3.org/2000/svg"><title>{label}</title>{drawn}</svg>'
    ).format(label=told, width=_WIDTH + 4, height=height, drawn=drawn)


def _drawn(box: _Box, *, is_last: bool) -> Markup:
    station = box.station
    kind = f"station {station.state}" + (" origin" if station.is_origin else "")
    y = box.top + _PAD + 11
    lines = []
    for title in box.titles:
        lines.append(_text(2 + _PAD + 4, y, title, "code" if station.is_code else "title", _TITLE_COLUMNS))
        y += _TITLE
    for detail in box.details:
        lines.append(_text(2 + _PAD + 4, y, detail, "detail", _DETAIL_COLUMNS))
        y += _DETAIL
    lines.append(_text(2 + _PAD + 4, y, station.place, "place", _DETAIL_COLUMNS))
    badge = Markup('<text class="state" x="{x}" y="{y}" text-anchor="end">{said}</text>').format(
        x=_WIDTH - _PAD, y=y, said=say(f"state_{station.state}")
    )
    shape = Markup(
        '<rect class="box" x="2" y="{top}" width="{width}" height="{height}" rx="8"/>'
        '<rect class="stripe" x="2" y="{top}" width="5" height="{height}" rx="2.5"/>'
    ).format(top=box.top, width=_WIDTH, height=box.height)
    return Markup('<g class="{kind}"><title>{full}</title>{parts}</g>{arrow}').format(
        kind=kind,
        full=" · ".join((station.title, *station.details, station.place)),
        parts=shape + Markup("").join(lines) + badge,
        arrow="" if is_last else _arrow(box.top + box.height),
    )


def _text(x: int, y: int, words: str, kind: str, columns: int) -> Markup:
    words = wrapped(words, columns, 1)[0] if cells(words) > columns else words
    return Markup('<text class="{kind}" x="{x}" y="{y}">{words}</text>').format(
        kind=kind, x=x, y=y, words=escape(words)
    )


def _arrow(top: int) -> Markup:
    x, tip = 2 + _WIDTH // 2, top + _ARROW - 3
    return Markup('<path class="arrow" d="M{x} {top}V{tip}m-5 -6l5 6l5 -6"/>').format(x=x, top=top + 2, tip=tip)
