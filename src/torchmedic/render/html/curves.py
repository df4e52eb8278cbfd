"""Curves over steps and epochs: what is drawn, in plain structures for a static picture and for an interactive one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from torchmedic.facts import EarlyStop, MetricPoint, Run, Series, SickStep
from torchmedic.facts.metrics import words_of
from torchmedic.facts.series import DEVICE_MEMORY, HOST_MEMORY, LOSS, RATE
from torchmedic.render.html.numbers import short
from torchmedic.render.html.phases import NO_PHASES, Phases, phases
from torchmedic.render.html.text import Words, phrase

_SPLIT_WORDS = frozenset(
    ("train", "training", "tr", "trn", "val", "valid", "validation", "validate", "dev", "eval", "evaluation", "test")
)
_MOST_METRIC_CHARTS = 8
_MOST_METRIC_POINTS = 2000
_MEBIBYTE = 1 << 20
_KNOWN = {
    LOSS: "curve_loss",
    RATE: "curve_rate",
    DEVICE_MEMORY: "curve_memory_device",
    HOST_MEMORY: "curve_memory_host",
}

Points = tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a chart; None breaks it."""

    name: Words
    x: tuple[float, ...]
    y: Points
    low: Points = ()
    high: Points = ()


@dataclass(frozen=True, kw_only=True)
class Mark:
    """An upright line at a place worth knowing; `kind` is "sick", "best" or "stopped"."""

    x: float
    label: Words
    kind: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Lines that share their axes."""

    id: str
    title: Words
    summaries: tuple[Words, ...]
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    x_label: Words = ""
    is_stepped: bool = False
    may_be_log: bool = True
    phases: Phases = NO_PHASES

    @property
    def summary(self) -> str:
        return "; ".join(map(str, self.summaries))

    @property
    def finite(self) -> list[float]:
        parts = (part for line in self.lines for part in (line.y, line.low, line.high))
        return [value for part in parts for value in part if value is not None and math.isfinite(value)]

    @property
    def is_log(self) -> bool:
        """Whether the values span so much that only a logarithmic axis shows all of it."""
        values = self.finite
        return self.may_be_log and bool(values) and min(values) > 0 and max(values) > 100 * min(values)


@dataclass
class _Metric:
    epochs: list[float] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    better: str = ""
    split: str = ""
    source: str = ""

    @property
    def repeats_the_loss(self) -> bool:
        """Whether it tells only what the loss of each step tells."""
        return self.source == "phase" and self.split == "train"


def charts(run: Run, curves: Iterable[Series]) -> list[Chart]:
    """Every chart that has something to show: the loss first, then metrics, then rate and memory."""
    by_name = {series.name: series for series in curves if len(series.steps) > 1}
    stepwise = {name: _stepwise(by_name[name], run) for name in _KNOWN if name in by_name}
    loss = [stepwise.pop(LOSS)] if LOSS in stepwise else []
    return [
        *loss,
        *_metric_charts(run, has_loss=bool(loss)),
        *(chart for chart in stepwise.values() if _says_something(chart)),
    ]


def merged(of_ranks: list[list[Chart]]) -> list[Chart]:
    """The charts of several ranks as one: each with the lines of all."""
    if len(of_ranks) < 2:
        return [chart for some in of_ranks for chart in some]
    found: dict[str, Chart] = {}
    for rank, some in enumerate(of_ranks):
        for chart in some:
            named = tuple(replace(line, name=phrase("live_rank", rank=rank)) for line in chart.lines)
            before = found.get(chart.id)
            found[chart.id] = replace(chart, lines=(*(before.lines if before else ()), *named))
    return list(found.values())


def _says_something(chart: Chart) -> bool:
    return chart.id != f"chart-{RATE}" or len(set(chart.lines[0].y)) > 1


def _stepwise(series: Series, run: Run) -> Chart:
    title = phrase(_KNOWN[series.name])
    series = _in_mebibytes(series) if series.name in (HOST_MEMORY, DEVICE_MEMORY) else series
    sick = run.first(SickStep) if series.name == LOSS else None
    marks = (Mark(x=sick.step, label=phrase("mark_sick", step=sick.step), kind="sick"),) if sick and sick.step else ()
    seen = phases(run) if series.name == LOSS else NO_PHASES
    return Chart(
        id=f"chart-{series.name.replace('/', '-')}",
        title=title,
        summaries=(_summary(title, series), *((seen.summary,) if seen.summary else ())),
        lines=(Line(name=title, x=series.steps, y=series.values, low=series.low, high=series.high),),
        marks=marks,
        x_label=phrase("axis_step"),
        is_stepped=series.name == RATE,
        may_be_log=series.name == LOSS,
        phases=seen,
    )


def _in_mebibytes(series: Series) -> Series:
    def smaller(part: Points) -> Points:
        return tuple(value and value / _MEBIBYTE for value in part)

    return replace(series, values=smaller(series.values), low=smaller(series.low), high=smaller(series.high))


def _summary(title: Words, series: Series) -> Words:
    """What the curve says in words. A point with ends stands for the steps since the one before, and is their mean."""
    lowest = zip(series.low or series.values, series.steps, strict=True)
    low, low_step = min(((value, step) for value, step in lowest if value is not None), default=(None, series.steps[0]))
    if series.low:
        return phrase(
            "curve_summary_means",
            name=title,
            first=short(series.values[0]),
            first_in=_stretch(series, 0),
            last=short(series.values[-1]),
            last_in=_stretch(series, len(series.steps) - 1),
            low=short(low),
            low_in=_stretch(series, series.steps.index(low_step)),
        )
    return phrase(
        "curve_summary",
        name=title,
        first=short(series.values[0]),
        first_step=series.steps[0],
        last=short(series.values[-1]),
        last_step=series.steps[-1],
        low=short(low),
        low_step=low_step,
    )


def _stretch(series: Series, number: int) -> Words:
    """The steps that a point stands for: those after the point before it."""
    steps = series.steps
    before = steps[number - 1] if number else max(0, 2 * steps[0] - steps[1])
    if steps[number] == before + 1:
        return phrase("one_step", step=steps[number])
    return phrase("some_steps", first=before + 1, last=steps[number])


def _metric_charts(run: Run, *, has_loss: bool) -> Iterator[Chart]:
    """One chart for metrics that differ only in the data they were measured on."""
    groups: dict[str, dict[str, _Metric]] = {}
    for point in run.all(MetricPoint):
        quantity = " ".join(word for word in words_of(point.name) if word not in _SPLIT_WORDS) or point.name
        metric = groups.setdefault(quantity, {}).setdefault(point.name, _Metric())
        metric.epochs.append(point.epoch)
        metric.values.append(point.value if math.isfinite(point.value) else None)
        metric.better, metric.split, metric.source = point.better, point.split, point.source
    shown = {name: group for name, group in groups.items() if any(len(m.epochs) > 1 for m in group.values())}
    if has_loss:
        shown = {name: g for name, g in shown.items() if not all(m.repeats_the_loss for m in g.values())}
    stop = run.last(EarlyStop)
    for number, (quantity, group) in enumerate(list(shown.items())[:_MOST_METRIC_CHARTS]):
        lines = tuple(_thinned(name, metric) for name, metric in group.items())
        yield Chart(
            id=f"chart-metric-{number}",
            title=quantity if len(group) > 1 else next(iter(group)),
            summaries=tuple(_told(name, metric) for name, metric in group.items()),
            lines=lines,
            marks=tuple(_metric_marks(group, stop)),
            x_label=phrase("axis_epoch"),
        )


def _thinned(name: str, metric: _Metric) -> Line:
    stride = -(-len(metric.epochs) // _MOST_METRIC_POINTS)
    return Line(name=name, x=tuple(metric.epochs[::stride]), y=tuple(metric.values[::stride]))


def _best(metric: _Metric) -> tuple[float, float] | None:
    """The best value and its epoch."""
    known = [(value, epoch) for value, epoch in zip(metric.values, metric.epochs, strict=True) if value is not None]
    if not known or not metric.better:
        return None
    return min(known) if metric.better == "lower" else max(known, key=lambda pair: pair[0])


def _told(name: str, metric: _Metric) -> Words:
    best = _best(metric)
    if best is None:
        return f"{name}: {short(metric.values[-1])}"
    return phrase(
        "curve_summary_epochs", name=name, best=short(best[0]), epoch=short(best[1]), last=short(metric.values[-1])
    )


def _metric_marks(group: dict[str, _Metric], stop: EarlyStop | None) -> Iterator[Mark]:
    held_out = next((metric for metric in group.values() if metric.split == "validation"), None)
    watched = stop is not None and stop.monitor in group
    epoch = float(stop.best_epoch) if watched and stop and stop.best_epoch is not None else None
    if epoch is None and held_out is not None and len(held_out.epochs) > 2:
        best = _best(held_out)
        epoch = best[1] if best else None
    if epoch is not None:
        yield Mark(x=epoch, label=phrase("mark_best", epoch=short(epoch)), kind="best")
    if watched and stop and stop.stopped:
        yield Mark(x=stop.epochs, label=phrase("mark_stopped", epoch=stop.epochs), kind="stopped")
