"""From the points of a run to the curves worth drawing, the best epoch, and whether the stop was right."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torchmedic.facts import EarlyStop, MetricPoint, PlannedEpochs, Run
from torchmedic.facts.metrics import Better, Split, better_of, split_of, words_of

Finding = Literal["overfitting", "levelled off", "still improving", "too early", "diverged", "unknown"]

_LEAST_POINTS = 4
_MOST_CURVES = 8


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One loss or score: places along the run (epochs or steps) with values."""

    name: str
    source: str
    at: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def split(self) -> Split:
        return split_of(self.name)

    @property
    def better(self) -> Better:
        return better_of(self.name)

    def best(self) -> int | None:
        """The index of the best finite value."""
        finite = [i for i, value in enumerate(self.values) if math.isfinite(value)]
        if not finite or not self.better:
            return None
        choose = min if self.better == "lower" else max
        return choose(finite, key=lambda i: self.values[i])


@dataclass(frozen=True, kw_only=True)
class Curves:
    """All that the picture and its caption need. `unit` is "epoch", or "step" where epochs do not tell points apart."""

    losses: tuple[Curve, ...]
    scores: tuple[Curve, ...]
    unit: str
    monitored: Curve | None
    best_at: float | None
    stop: EarlyStop | None
    planned: int | None
    finding: Finding
    sentence: str


def curves_of(run: Run) -> Curves | None:
    """The curves of a run; None when it holds no loss and no score."""
    points = [point for point in run.all(MetricPoint) if point.better]
    if not points:
        return None
    plan = run.last(PlannedEpochs)
    unit = _unit(points, is_planned=plan is not None)
    found = _without_echoes(_grouped(points, unit))
    stop = run.last(EarlyStop)
    planned = plan.epochs if plan is not None and unit == "epoch" else None
    monitored = _monitored(found, stop)
    best = monitored.best() if monitored is not None else None
    best_at = monitored.at[best] if monitored is not None and best is not None else None
    finding, sentence = _judged(found, monitored, stop, planned, unit)
    return Curves(
        losses=tuple(c for c in found if c.better == "lower")[:_MOST_CURVES],
        scores=tuple(c for c in found if c.better == "higher")[:_MOST_CURVES],
        unit=unit,
        monitored=monitored,
        best_at=best_at,
        stop=stop,
        planned=planned,
        finding=finding,
        sentence=sentence,
    )


# -- which curves ----------------------------------------------------------------------------------------------------


def _unit(points: Sequence[MetricPoint], *, is_planned: bool) -> str:
    """Epochs, unless most points share theirs with another one of the same name, or an epoch is but a step.

    Where a whole pass is one step, and the loop says how many epochs it makes, its owner thinks in epochs.
    """
    places = {(p.name, p.source, p.epoch) for p in points}
    if len(places) < len(points) * 2 / 3 or (not is_planned and all(p.epoch == p.step for p in points)):
        return "step"
    return "epoch"


def _grouped(points: Sequence[MetricPoint], unit: str) -> list[Curve]:
    """Curves by name; of two points at the same place the later one counts."""
    groups: dict[tuple[str, str], dict[float, float]] = {}
    for point in points:
        place = point.epoch if unit == "epoch" else float(point.step or 0)
        groups.setdefault((point.name, point.source), {})[place] = point.value
    return [
        Curve(name=name, source=source, at=tuple(sorted(by_place)), values=tuple(by_place[x] for x in sorted(by_place)))
        for (name, source), by_place in groups.items()
    ]


def _without_echoes(found: list[Curve]) -> list[Curve]:
    """A loss that the script logs itself is not drawn a second time as we saw it being computed."""
    own = {c.split for c in found if c.source != "phase" and c.better == "lower" and _is_loss(c)}
    return [c for c in found if c.source != "phase" or c.split not in own]


def _is_loss(curve: Curve) -> bool:
    return "loss" in words_of(curve.name)


def _monitored(found: Sequence[Curve], stop: EarlyStop | None) -> Curve | None:
    """What decides: the monitored name, else the validation loss, else a validation score, else the same on test."""
    if stop is not None:
        named = next((c for c in found if c.name == stop.monitor and len(c.at) >= 2), None)
        if named is not None:
            return named
    for split in ("validation", "test"):
        for better in ("lower", "higher"):
            fitting = [c for c in found if c.split == split and c.better == better]
            if fitting:
                return max(fitting, key=lambda c: (_is_loss(c), len(c.at)))
    return None


# -- was the stop right ----------------------------------------------------------------------------------------------


def _judged(
    found: Sequence[Curve], curve: Curve | None, stop: EarlyStop | None, planned: int | None, unit: str
) -> tuple[Finding, str]:
    if curve is None:
        said = "no validation loss or score was recorded, so the stop cannot be judged; note one with `torchmedic.log`"
        return "unknown", said
    best = curve.best()
    if best is None or len(curve.values) < _LEAST_POINTS:
        return "unknown", f"{len(curve.values)} values of `{curve.name}` are too few to judge the stop"
    finding = _finding(curve, best, stop)
    ran = f"{curve.at[-1]:g} of {planned} planned {unit}s ran" if planned else f"{curve.at[-1]:g} {unit}s ran"
    value, reason = f"{curve.values[best]:.4g}", _reason(finding, found, curve, best, stop, unit)
    return finding, f"{ran}; the best `{curve.name}` is {value} at {unit} {curve.at[best]:g}; {reason}"


def _finding(curve: Curve, best: int, stop: EarlyStop | None) -> Finding:
    """What the monitored curve does after its best point, measured against its own noise."""
    lower = [v if curve.better == "lower" else -v for v in curve.values]
    if not math.isfinite(lower[-1]):
        return "diverged"
    noise, flat = _noise(lower), _flat(lower)
    after = len(lower) - 1 - best
    window = max(2, min(len(lower) // 4, 10))
    recent, before = lower[-window:], lower[-2 * window : -window]
    gain = statistics.fmean(before) - statistics.fmean(recent) if before else 0.0
    if after <= max(1, len(lower) // 10) and gain > max(noise, flat):
        return "still improving"
    rise = statistics.fmean(lower[-min(after, window) :] if after else [lower[best]]) - lower[best]
    # A best value that was luck: the curve goes on falling beneath its noise, which is as large as what it gains.
    if stop is not None and stop.stopped and gain > max(0.7 * noise, flat) and noise > 0.3 * gain:
        return "too early"
    # The best of many values lies below the others by two or three times the noise without meaning anything.
    if after >= 2 and rise > max(3.5 * noise, min(5 * flat, 0.03 * abs(lower[best]))):
        return "overfitting"
    return "levelled off"


def _flat(values: Sequence[float]) -> float:
    """A change too small to matter: half a percent of all that the curve ever moved."""
    finite = [v for v in values if math.isfinite(v)]
    return 0.005 * (max(finite) - min(finite))


def _noise(values: Sequence[float]) -> float:
    """How far a point lies from the line between its neighbours, typically."""
    triples = zip(values, values[1:], values[2:], strict=False)
    jumps = [abs(b - (a + c) / 2) for a, b, c in triples if all(map(math.isfinite, (a, b, c)))]
    return 1.4826 * statistics.median(jumps) / math.sqrt(1.5) if jumps else 0.0


def _reason(
    finding: Finding, found: Sequence[Curve], curve: Curve, best: int, stop: EarlyStop | None, unit: str
) -> str:
    stopped = stop is not None and stop.stopped
    now = f"{curve.values[-1]:.4g}"
    if finding == "diverged":
        return f"then it became {now}: this is no early stop but a training that broke"
    if finding == "still improving":
        longer = "the stop came too early" if stopped else "the training ended while it still got better"
        return f"it was still getting better at the end ({now}): {longer}, a longer run may gain"
    if finding == "too early":
        assert stop is not None
        return f"on average it still got better when patience ({stop.patience}) ran out: noise ended it, raise patience"
    if finding == "levelled off":
        verdict = "stopping was right" if stopped else "fewer epochs would have done"
        return f"since then it only varied within its noise (last {now}): it levelled off, {verdict}"
    trend = _training_trend(found, curve, best)
    verdict = (
        f"stopping was right{_weights(stop)}" if stopped else f"the weights of {unit} {curve.at[best]:g} were better"
    )
    return f"since then it got worse ({now}){trend}: overfitting, {verdict}"


def _training_trend(found: Sequence[Curve], curve: Curve, best: int) -> str:
    """What the training loss did meanwhile: the mark of overfitting is that it went on falling."""
    train = next((c for c in found if c.split == "train" and c.better == "lower"), None)
    if train is None:
        return ""
    then = next((v for x, v in zip(train.at, train.values, strict=True) if x >= curve.at[best]), None)
    if then is None or not train.values[-1] < then:
        return ""
    return f" while `{train.name}` fell from {then:.4g} to {train.values[-1]:.4g}"


def _weights(stop: EarlyStop | None) -> str:
    if stop is None:
        return ""
    return " and the best weights were put back" if stop.restored else ", but the best weights were not put back"
