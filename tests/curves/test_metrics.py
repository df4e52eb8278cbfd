"""Losses and scores by epoch, seen without a change of the script or told by one line."""

from __future__ import annotations

from pathlib import Path

from tests.running import run_watched
from torchmedic.facts import EarlyStop, MetricPoint, PlannedEpochs, Run
from torchmedic.facts.metrics import better_of, split_of
from torchmedic.probes.course.metric_series import MetricSeries

_SCRIPTS = Path(__file__).parent / "scripts"


def _epochs(run: Run, name: str) -> list[float]:
    return [p.epoch for p in run.all(MetricPoint) if p.name == name]


def test_a_plain_loop_is_followed_by_epoch() -> None:
    watched = run_watched(_SCRIPTS / "plain.py")
    assert watched.status == 0, watched.stderr[-2000:]
    assert watched.stdout == "9 6\n"
    every = [float(n) for n in range(1, 10)]
    assert _epochs(watched.run, "train loss") == every
    assert _epochs(watched.run, "validation loss") == every
    assert _epochs(watched.run, "val_acc") == every
    train = [p for p in watched.run.all(MetricPoint) if p.name == "train loss"]
    assert {p.count for p in train} == {3}
    assert [p.step for p in train] == [3 * n for n in range(1, 10)], "an epoch ends with its last update"
    assert [p.step for p in watched.run.all(MetricPoint) if p.name == "val_acc"] == [p.step for p in train]
    plan, stop = watched.run.first(PlannedEpochs), watched.run.first(EarlyStop)
    assert plan is not None
    assert (plan.epochs, plan.where.line if plan.where else 0) == (40, 29)
    assert stop is not None
    assert (stop.best_epoch, stop.epochs, stop.waited, stop.stopped, stop.restored) == (6, 9, 3, True, True)


def test_without_epochs_every_step_is_a_point() -> None:
    run = run_watched(_SCRIPTS / "full_batch.py").run
    assert _epochs(run, "train loss") == [float(n) for n in range(1, 31)]


def test_names_tell_the_data_and_the_direction() -> None:
    assert (split_of("Loss/val"), better_of("Loss/val")) == ("validation", "lower")
    assert (split_of("testAUC"), better_of("testAUC")) == ("test", "higher")
    assert (split_of("lr"), better_of("lr")) == ("", "")


def test_a_long_series_without_epochs_is_thinned() -> None:
    series = MetricSeries("loss", "phase")
    for step in range(100_000):
        series.add(1.0, 1.0, 1, step)
    left = list(series.close(rounds=0))
    assert len(left) <= 256
    assert sum(s.count for s in left) == 100_000


def test_many_epochs_are_written_ever_more_rarely() -> None:
    series = MetricSeries("loss", "phase")
    written = []
    for epoch in range(5_000):
        series.add(float(epoch), 1.0, epoch, epoch)
        written.append(series.close_round())
    written += list(series.close(rounds=5_000))
    kept = [s for s in written if s is not None]
    assert len(kept) < 2_100
    assert sum(s.count for s in kept) == 5_000
