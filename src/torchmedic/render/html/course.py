"""Memory over one step as a picture: what it is for lies in layers on top of each other, phases side by side."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, groupby

from markupsafe import Markup

from torchmedic.facts.memory_plan import MemoryMoment, MemoryPlan
from torchmedic.render.html.numbers import size
from torchmedic.render.html.plot import Scale
from torchmedic.render.html.text import say
from torchmedic.translation import said

_MOST_KINDS = 6
_LEAST_SHARE = 0.06  # of the width: what is narrower has no room for its name


@dataclass(frozen=True, kw_only=True)
class CourseView:
    """The picture, what its layers are (the lowest first), and what it says in words."""

    picture: Markup
    kinds: list[str]
    summary: str


def course_view(plan: MemoryPlan) -> CourseView | None:
    """Nothing where the step was not followed."""
    if len(plan.course) < 2:
        return None
    kinds = list(plan.by_category)[:_MOST_KINDS]
    return CourseView(
        picture=_picture(plan.course, kinds),
        kinds=[kind_name(kind) for kind in kinds],
        summary=say("memory_course_summary", step=plan.peak_step, peak=size(plan.peak_allocated)),
    )


def _picture(course: tuple[MemoryMoment, ...], kinds: list[str]) -> Markup:
    heights = [list(accumulate(moment.by_category.get(kind, 0) for kind in kinds)) for moment in course]
    across = Scale(0, len(course) - 1)
    up = Scale(0, max(max(column) for column in heights) or 1)
    layers = []
    for layer in range(len(kinds)):
        top = [column[layer] for column in heights]
        bottom = [column[layer - 1] if layer else 0 for column in heights]
        edge = [*enumerate(top), *reversed(list(enumerate(bottom)))]
        outline = "L".join(f"{1000 * across.place(at):.1f} {1000 - 1000 * up.place(h):.1f}" for at, h in edge)
        layers.append(Markup('<path class="layer s{n}" d="M{d}Z"/>').format(n=layer % 6, d=outline))
    phases = list(_phases(course))
    borders = "".join(f"M{1000 * across.place(start):.1f} 0V1000" for _, start, _ in phases[1:])
    grid = Markup('<path class="border" d="{}"/>').format(borders) if borders else Markup("")
    return Markup('<div class="plot"><svg viewBox="0 0 1000 1000" preserveAspectRatio="none">{}</svg>{}</div>').format(
        Markup("").join(layers) + grid, _labels(phases, across, up)
    )


def _phases(course: tuple[MemoryMoment, ...]) -> list[tuple[str, int, int]]:
    """Each phase with the first and the last moment of it."""
    found, at = [], 0
    for phase, moments in groupby(course, key=lambda moment: moment.phase):
        length = len(list(moments))
        found.append((phase, at, at + length - 1))
        at += length
    return found


def _unit(amount: float) -> tuple[int, str]:
    """The unit in which an amount has few digits, so that the numbers beside the picture are round."""
    units = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
    return next(((bytes_, name) for bytes_, name in units if amount >= bytes_), (1, "B"))


def kind_name(kind: str) -> str:
    """What memory is for, in the language spoken."""
    return say("memory_data") if kind == "data" else said(kind)


def phase_name(phase: str) -> str:
    """A phase of the step, in the language spoken."""
    return say(f"phase_{phase}")


def _labels(phases: list[tuple[str, int, int]], across: Scale, up: Scale) -> Markup:
    label = Markup('<span class="{kind}" style="{side}:{place:.2f}%">{words}</span>')
    unit, name = _unit(up.high)
    parts = [
        label.format(kind="tick up", side="bottom", place=100 * up.place(tick * unit), words=f"{tick:g} {name}")
        for tick in Scale(0, up.high / unit).ticks(6)
    ]
    for phase, start, end in phases:
        if across.place(end) - across.place(start) >= _LEAST_SHARE:
            middle = 100 * across.place((start + end) / 2)
            parts.append(label.format(kind="tick across", side="left", place=middle, words=phase_name(phase)))
    return Markup("").join(parts)
