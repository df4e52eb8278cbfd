"""EarlyStopping alone and inside the frameworks: when it stops, what it keeps, how it goes on after a restart."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn

import torchmedic
from torchmedic import EarlyStopping


def _steps(stopping: EarlyStopping, *values: float) -> list[bool]:
    return [stopping.step(value) for value in values]


def test_it_stops_when_patience_is_over() -> None:
    assert _steps(EarlyStopping(patience=2), 3.0, 2.0, 2.5, 2.4) == [False, False, False, True]


def test_the_highest_is_best_in_mode_max() -> None:
    stopping = EarlyStopping(patience=1, mode="max")
    assert _steps(stopping, 0.5, 0.7, 0.6) == [False, False, True]
    assert (stopping.best, stopping.best_epoch) == (0.7, 2)


def test_a_gain_below_min_delta_is_none() -> None:
    assert _steps(EarlyStopping(patience=2, min_delta=0.1), 1.0, 0.95, 0.92) == [False, False, True]


def test_nan_never_counts_as_better() -> None:
    stopping = EarlyStopping(patience=2)
    assert _steps(stopping, math.nan, math.nan) == [False, True]
    assert stopping.best is None


def test_the_best_weights_are_kept_apart_and_put_back() -> None:
    model, stopping = nn.Linear(1, 1), EarlyStopping(patience=5)
    for value, weight in ((2.0, 1.0), (1.0, 2.0), (3.0, 9.0)):
        nn.init.constant_(model.weight, weight)
        stopping.step(value, model)
    stopping.restore(model)
    assert model.weight.item() == 2.0


def test_it_goes_on_after_a_restart(tmp_path: Path) -> None:
    model, first = nn.Linear(1, 1), EarlyStopping(patience=2)
    nn.init.constant_(model.weight, 4.0)
    first.step(1.0, model)
    first.step(2.0, model)
    torch.save(first.state_dict(), tmp_path / "stopping.pt")
    second = EarlyStopping(patience=2)
    second.load_state_dict(torch.load(tmp_path / "stopping.pt"))
    nn.init.constant_(model.weight, 7.0)
    assert second.step(3.0, model)
    second.restore(model)
    assert (model.weight.item(), second.best_epoch, second.stopped_epoch) == (4.0, 1, 3)


@pytest.mark.parametrize("wrong", [{"patience": 0}, {"min_delta": -1.0}, {"mode": "best"}])
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        EarlyStopping(**wrong)  # type: ignore[arg-type]


def test_log_is_silent_when_nothing_watches() -> None:
    torchmedic.log("val_loss", object())
