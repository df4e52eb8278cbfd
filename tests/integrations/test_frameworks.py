"""Under a framework as without one: the line of the user's code, exact when sick, silent when healthy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.catalogue import expectations
from tests.running import rendered, run_watched
from torchmedic.facts import EarlyStop, MetricPoint, PlannedEpochs

_SCRIPTS = Path(__file__).parent / "scripts"
_HEALTHY = sorted(_SCRIPTS.glob("*_healthy.py"))
_SICK = sorted(set(_SCRIPTS.glob("*.py")) - set(_HEALTHY) - {_SCRIPTS / "tracked.py"})

# What the epoch series of a healthy run must hold at least.
_FOLLOWED = {
    "lightning": {("lightning", "train_loss"), ("lightning", "val_loss"), ("lightning", "val_acc")},
    "huggingface": {("huggingface", "train loss"), ("huggingface", "eval_loss"), ("huggingface", "eval_accuracy")},
    "accelerate": {("phase", "train loss"), ("phase", "validation loss")},
    "pyg": {("phase", "train loss"), ("phase", "validation loss")},
    "compile": {("phase", "train loss")},
    "nanogpt": {("phase", "train loss"), ("log", "val_loss")},
    "timm": {("phase", "train loss"), ("phase", "validation loss")},
}


def _name(script: Path) -> str:
    return script.stem


@pytest.mark.parametrize("script", _SICK, ids=_name)
def test_a_sick_training_is_diagnosed_on_the_users_line(script: Path) -> None:
    watched = run_watched(script)
    assert watched.codes, f"silence; stderr was:\n{watched.stderr[-3000:]}"
    top = watched.verdict.diagnoses[0]
    place = (top.code, os.path.basename(top.where.file), top.where.line) if top.where else (top.code, "", 0)
    wanted = [found for found in expectations(script) if found[1] == script.name]
    assert place in wanted, rendered(watched.verdict)


@pytest.mark.parametrize("script", _HEALTHY, ids=_name)
def test_a_healthy_training_gets_silence_and_its_numbers_are_followed(script: Path) -> None:
    watched = run_watched(script)
    assert watched.status == 0, watched.stderr[-3000:]
    assert watched.codes == [], rendered(watched.verdict)
    assert "switched off" not in watched.stderr
    points = list(watched.run.all(MetricPoint))
    assert {(p.source, p.name) for p in points} >= _FOLLOWED[script.stem.removesuffix("_healthy")]
    last = max(p.epoch for p in points)
    assert last >= 3


def test_the_trainers_plan_and_its_early_stopping_are_known() -> None:
    run = run_watched(_SCRIPTS / "huggingface_healthy.py").run
    plan, stop = run.first(PlannedEpochs), run.first(EarlyStop)
    assert plan is not None
    assert plan.epochs == 4
    assert stop is not None
    assert (stop.monitor, stop.mode, stop.patience, stop.source) == ("eval_loss", "min", 2, "huggingface")
