"""Memory as bars and tiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torchmedic.facts import Location, MemoryPlan, Run
from torchmedic.render.html.course import CourseView, course_view, kind_name, phase_name
from torchmedic.render.html.numbers import size
from torchmedic.render.html.text import say
from torchmedic.translation import said as told

MOST_BARS = 12


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A named amount; `share` is of the largest, in per cent."""

    name: str
    said: str
    share: float


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A part of a treemap; places are in per cent of the whole."""

    name: str
    said: str
    left: float
    top: float
    width: float
    height: float
    shade: int


@dataclass(frozen=True, kw_only=True)
class MemoryView:
    """What a training needs on a card: over the step, by kind, by phase, by module, by line."""

    summary: str
    fit: str
    course: CourseView | None
    categories: list[Bar]
    phases: list[Bar]
    modules: list[Tile]
    lines: list[Bar]
    remedies: list[Bar]


def memory_view(run: Run, said: dict[str, Any]) -> MemoryView | None:
    """`said` is what the check-up has to say beside the plan: of a card that was named, and of remedies."""
    plan = run.last(MemoryPlan)
    if plan is None:
        return None
    modules = [(share.module or say("memory_outside"), share.bytes) for share in plan.by_module if share.bytes > 0]
    return MemoryView(
        summary=memory_summary(plan),
        fit=_fit(said["fits"]) if said.get("fits") else "",
        course=course_view(plan),
        categories=_bars((kind_name(name), amount) for name, amount in plan.by_category.items()),
        phases=_bars((phase_name(name), amount) for name, amount in plan.phase_peaks.items()),
        modules=tiles(sorted(modules, key=lambda pair: -pair[1])),
        lines=_bars((_line(share.where), share.bytes) for share in plan.by_line if share.where is not None),
        remedies=_bars((_remedy(one), one["peak_allocated"] or 0) for one in said.get("remedies", ())),
    )


def memory_summary(plan: MemoryPlan) -> str:
    return say(
        "memory_summary",
        peak=size(plan.peak_allocated),
        reserved=size(plan.peak_reserved),
        phase=phase_name(plan.phase),
        card=plan.card,
    )


def _fit(fits: dict[str, Any]) -> str:
    name = "memory_fits" if fits["fits"] else "memory_too_much"
    return say(name, card=fits["card"], spare=size(abs(fits["spare"])), usable=size(fits["usable"]))


def _remedy(one: dict[str, Any]) -> str:
    return told("; ".join(part for part in (one["title"], one["note"]) if part))


def _line(where: Location) -> str:
    return f"{where.file}:{where.line}  {where.source.strip()}"


def _bars(amounts: Iterable[tuple[str, int]]) -> list[Bar]:
    given = [(name, amount) for name, amount in amounts if amount > 0][:MOST_BARS]
    most = max((amount for _, amount in given), default=1)
    return [Bar(name=name, said=size(amount), share=100 * amount / most) for name, amount in given]


def tiles(amounts: list[tuple[str, int]]) -> list[Tile]:
    """A treemap: the whole is cut in two halves of about the same amount, across its longer side, again and again."""
    return _cut(amounts[:40], 0.0, 0.0, 100.0, 100.0)


def _cut(amounts: list[tuple[str, int]], left: float, top: float, width: float, height: float) -> list[Tile]:
    if len(amounts) <= 1:
        return [
            Tile(name=name, said=size(amount), left=left, top=top, width=width, height=height, shade=hash_of(name) % 6)
            for name, amount in amounts
        ]
    total = sum(amount for _, amount in amounts)
    so_far, split = amounts[0][1], 1
    while split < len(amounts) - 1 and so_far + amounts[split][1] / 2 < total / 2:
        so_far += amounts[split][1]
        split += 1
    part = so_far / total
    # The whole is drawn about three times as wide as it is high.
    if 3 * width >= height:
        first = _cut(amounts[:split], left, top, width * part, height)
        return first + _cut(amounts[split:], left + width * part, top, width * (1 - part), height)
    first = _cut(amounts[:split], left, top, width, height * part)
    return first + _cut(amounts[split:], left, top + height * part, width, height * (1 - part))


def hash_of(name: str) -> int:
    """The same colour for modules of the same block, in every process.

    >>> hash_of("encoder.layers.1.norm") == hash_of("encoder.layers.1.linear") != hash_of("encoder.layers.2.norm")
    True
    """
    return sum(".".join(name.split(".")[:3]).encode())
