"""Where epochs end and where a training was evaluated, as places on the axis of steps."""

from __future__ import annotations

from dataclasses import dataclass

from torchmedic.facts import MetricPoint, Run
from torchmedic.render.html.numbers import short
from torchmedic.render.html.text import Words, phrase

_MOST_STRETCHES = 40
_MOST_TOLD = 6
_MOST_EVALUATIONS = 200
_HALF = 0.5


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """The steps of an epoch, or of several where there are many; the label is empty where there is no room."""

    start: float
    end: float
    label: Words = ""


@dataclass(frozen=True, kw_only=True)
class Phases:
    """What the steps belong to. Epochs end and evaluations happen between two steps."""

    epochs: tuple[Stretch, ...] = ()
    evaluations: tuple[float, ...] = ()
    summary: Words = ""


NO_PHASES = Phases()


def phases(run: Run) -> Phases:
    """The phases of a training that was followed by epochs; empty for one that was not."""
    points = [point for point in run.all(MetricPoint) if point.step]
    ends = {point.epoch: point.step or 0 for point in points if point.source == "phase" and point.split == "train"}
    evaluated = sorted({point.step or 0 for point in points if point.split == "validation"})
    if len(ends) < 2 or all(epoch == step for epoch, step in ends.items()):
        ends = {}
    if not ends and not evaluated:
        return NO_PHASES
    stride = -(-len(evaluated) // _MOST_EVALUATIONS) or 1
    return Phases(
        epochs=_stretches(ends),
        evaluations=tuple(step + _HALF for step in evaluated[::stride]),
        summary=phrase("curve_phases", epochs=len(ends) or 1, times=len(evaluated)),
    )


def _stretches(ends: dict[float, int]) -> tuple[Stretch, ...]:
    stride = -(-len(ends) // _MOST_STRETCHES) or 1
    shown = list(ends.items())[stride - 1 :: stride]
    told_every = -(-len(shown) // _MOST_TOLD) or 1
    starts = [0, *(step for _, step in shown)]
    return tuple(
        Stretch(
            start=start + _HALF,
            end=step + _HALF,
            label="" if number % told_every else phrase("mark_epoch", epoch=short(epoch)),
        )
        for number, (start, (epoch, step)) in enumerate(zip(starts, shown, strict=False))
    )
