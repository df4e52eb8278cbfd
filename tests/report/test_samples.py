"""Sampled series: what the probe writes, how a long run is thinned, and what is read back."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import torchmedic
from tests.report.runs import a_run_file
from torchmedic import sampled
from torchmedic.facts import LayersWatched, Run, Series
from torchmedic.probes.course import vitals
from torchmedic.render.html.curves import charts


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(steps: int) -> list[float]:
    """A small training; returns its losses."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    x = torch.rand(16, 4)
    losses = []
    for _ in range(steps):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    return losses


def by_name(series: list[Series]) -> dict[str, Series]:
    return {one.name: one for one in series}


def test_every_loss_and_every_layer_is_there(here: Path) -> None:
    with torchmedic.watch(quiet=True) as medic:
        losses = train(12)
    assert medic.folder is not None
    assert medic.run is not None
    curves = by_name(sampled.curves(medic.folder))
    assert curves["loss"].steps == tuple(range(1, 13))
    assert curves["loss"].values == tuple(losses)
    assert curves["rate"].steps == (1, 6, 11), "written when it changes"
    layers = by_name(sampled.layers(medic.folder))
    watched = medic.run.first(LayersWatched)
    assert watched is not None
    assert watched.names == ("0.weight", "1.weight", "2.weight")
    outputs = {f"activation/{name.removesuffix('.weight')}" for name in watched.names}
    assert {f"{kind}/{name}" for kind in ("gradient", "weight") for name in watched.names} | outputs == set(layers)
    assert all(value and value > 0 for value in layers["gradient/0.weight"].values)


def test_old_points_are_thinned_and_keep_their_ends(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vitals, "_MOST_LOSSES", 16)
    with torchmedic.watch(quiet=True) as medic:
        losses = train(100)
    assert medic.folder is not None
    loss = by_name(sampled.curves(medic.folder))["loss"]
    assert 8 <= len(loss.steps) <= 17
    assert loss.steps[-1] >= 96
    width = loss.steps[-1] - loss.steps[-2]
    assert loss.values[-1] == pytest.approx(statistics.fmean(losses[loss.steps[-2] : loss.steps[-2] + width]))
    assert loss.low[-1] == min(losses[loss.steps[-2] : loss.steps[-2] + width])
    (chart,) = (chart for chart in charts(medic.run or Run(), [loss]) if chart.id == "chart-loss")
    assert f"of steps {loss.steps[-2] + 1} to {loss.steps[-1]}" in chart.summary, (
        "a mean is not sold as one step's loss"
    )


values = st.one_of(st.none(), st.floats(-1e6, 1e6, allow_nan=False))


@settings(max_examples=40, deadline=None)
@given(rows=st.dictionaries(st.integers(1, 300), values, min_size=1, max_size=80), points=st.integers(1, 40))
def test_thinning_tells_the_truth(tmp_path_factory: pytest.TempPathFactory, rows: dict, points: int) -> None:  # type: ignore[type-arg]
    run = a_run_file(tmp_path_factory.mktemp("run"), points=[("loss", step, value) for step, value in rows.items()])
    (series,) = sampled.curves(run, points)
    assert len(series.steps) <= points
    assert list(series.steps) == sorted(set(series.steps))
    first, last = min(rows), max(rows)
    width = math.ceil((last - first + 1) / points)
    for number, step in enumerate(series.steps):
        start = first + (step - first) // width * width
        inside = [rows[at] for at in range(start, start + width) if at in rows]
        known = [value for value in inside if value is not None]
        if None in inside:
            assert series.values[number] is None, "a value that was not finite is not averaged away"
        else:
            assert series.values[number] == pytest.approx(statistics.fmean(known), abs=1e-6)
        if series.low and known:
            assert (series.low[number], series.high[number]) == (min(known), max(known))


def test_many_names_are_found_without_reading_every_row(tmp_path: Path) -> None:
    rows = [(f"gradient/layer{layer}", step, 1.0) for layer in range(30) for step in range(1, 200)]
    run = a_run_file(tmp_path, points=[*rows, ("loss", 1, 1.0)])
    assert len(sampled.layers(run, 10)) == 30
    assert {len(series.steps) for series in sampled.layers(run, 10)} == {10}
    assert [series.name for series in sampled.curves(run)] == ["loss"]
