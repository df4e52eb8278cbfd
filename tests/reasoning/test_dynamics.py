"""Plateaus, swings and noise on hand-made runs, and the causes that they give way to."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from torchmedic.facts import Crash, LoaderSeen, Location, Run, SchedulerSeen, StridesSeen, TrainingCourse
from torchmedic.findings import Rule
from torchmedic.rules.training.batch_unfit_for_its_noise import BatchUnfitForItsNoise
from torchmedic.rules.training.learning_rate_too_high import LearningRateTooHigh
from torchmedic.rules.training.loss_on_a_plateau import LossOnAPlateau
from torchmedic.rules.training.loss_that_swings import LossThatSwings
from torchmedic.triage import examine

_STEPS = 480
_LOOKS = 60
_OPTIMIZER = Location(file="train.py", line=10, source="optimizer = SGD(model.parameters(), lr=0.1)")
_SCHEDULE = Location(file="train.py", line=11, source="scheduler = ExponentialLR(optimizer, 0.3)")
_LOADER = Location(file="train.py", line=5, source="loader = DataLoader(data, batch_size=4, shuffle=True)")
_RULES: tuple[Rule, ...] = (LossOnAPlateau(), LossThatSwings(), BatchUnfitForItsNoise())
_STANDING = (1.0, 0.8, 0.6) + (0.5, 0.51) * 28 + (0.5,)
_FALLING = tuple(2.0 * 0.97**i for i in range(60))


def _course(parts: Sequence[float] = _STANDING, start: float = 2.0, **changes: Any) -> TrainingCourse:
    slots: dict[str, Any] = {
        "step": _STEPS,
        "optimizer": "SGD",
        "built": _OPTIMIZER,
        "steps": _STEPS,
        "optimizers": 1,
        "losses": _STEPS,
        "head": (start,) * 30,
        "parts": tuple(parts),
        "lows": tuple(0.8 * part for part in parts),
        "highs": tuple(1.2 * part for part in parts),
        "highest": start,
        "ratios": (1e-3,),
        "ratio_steps": (0,),
        "moved": 0.5,
        "first_lr": 0.1,
        "last_lr": 0.1,
        "highest_lr": 0.1,
        "gradient": 1.0,
        "backward_lines": 1,
    }
    return TrainingCourse(**(slots | changes))


def _strides(**changes: float | tuple[float, ...] | None) -> StridesSeen:
    """Sixty looks; a single number stands for a series that does not change."""
    series: dict[str, Any] = {
        "rates": 0.1,
        "agree": 0.0,
        "lasting": 0.0,
        "before": -1.0,
        "after": 0.0,
        "gradients": 1.0,
        "strides": 1e-3,
        "falls": 0.001,
    }
    other: dict[str, Any] = {"momentum": 0.0, "elements": 1000}
    for name, value in changes.items():
        (series if name in series else other)[name] = value
    filled = {name: v if isinstance(v, tuple) else (v,) * _LOOKS for name, v in series.items()}
    steps = tuple(range(8, _STEPS + 1, 8))
    return StridesSeen(step=_STEPS, optimizer="SGD", built=_OPTIMIZER, steps=steps, **other, **filled)


def _loader(asked_for: int = 4, **changes: Any) -> LoaderSeen:
    slots: dict[str, Any] = {
        "step": 0,
        "names": ("loader",),
        "built": _LOADER,
        "dataset": "TensorDataset",
        "in_order": False,
        "trained": 8,
        "batches": 8,
        "batch_size": 0,
        "samples": 0,
        "labels": 0,
        "single_class": 0,
        "is_sorted": False,
        "asked_for": asked_for,
    }
    return LoaderSeen(**(slots | changes))


def _told(*seen: Any) -> list[tuple[str, int]]:
    found = [d for rule in _RULES for d in rule.check(Run(observations=seen))]
    return [(d.code, d.where.line if d.where else 0) for d in found]


_FADED = tuple(0.1 * 0.7**i for i in range(_LOOKS))
_SLOPE: dict[str, Any] = {"agree": 0.6, "lasting": 0.6, "after": -0.6, "strides": 1e-6, "rates": _FADED}


# -- plateau ---------------------------------------------------------------------------------------------------------


def test_a_loss_that_stands_on_a_slope_after_the_rate_has_faded_points_at_the_schedule() -> None:
    schedule = SchedulerSeen(type="ExponentialLR", settings={}, built=_SCHEDULE, optimizer_built=_OPTIMIZER)
    assert _told(_course(), _strides(**_SLOPE), schedule) == [("TRN070", _SCHEDULE.line)]


def test_without_a_scheduler_the_line_that_sets_the_rate_by_hand_is_named() -> None:
    by_hand = Location(file="train.py", line=30, source='group["lr"] *= 0.3')
    assert _told(_course(), _strides(**_SLOPE, rate_written=by_hand)) == [("TRN070", by_hand.line)]


def test_a_constant_rate_needs_gradients_that_agree_more() -> None:
    assert _told(_course(), _strides(**{**_SLOPE, "rates": 0.1})) == [("TRN070", _OPTIMIZER.line)]
    assert _told(_course(), _strides(**{**_SLOPE, "rates": 0.1, "agree": 0.4, "lasting": 0.4})) == []


def test_gradients_of_noise_are_the_floor_of_the_labels_and_no_plateau() -> None:
    assert _told(_course(), _strides(**{**_SLOPE, "agree": 0.05, "lasting": 0.02})) == []


def test_neighbours_that_agree_are_not_enough_where_distant_steps_do_not() -> None:
    assert _told(_course(), _strides(**{**_SLOPE, "lasting": 0.1})) == []


def test_a_slope_that_is_gone_is_a_training_that_is_done() -> None:
    gone = (1.0,) * 5 + (0.01,) * (_LOOKS - 5)
    assert _told(_course(), _strides(**{**_SLOPE, "gradients": gone})) == []


def test_a_loss_near_nothing_is_no_plateau() -> None:
    parts = tuple(0.05 * part for part in _STANDING)
    assert _told(_course(parts), _strides(**_SLOPE)) == []


def test_a_loss_that_still_falls_is_no_plateau() -> None:
    assert _told(_course(_FALLING), _strides(**_SLOPE)) == []


# -- swings ----------------------------------------------------------------------------------------------------------


def test_updates_that_end_on_the_other_wall_point_at_the_rate() -> None:
    far = _strides(after=0.7, agree=-0.7, falls=0.6)
    assert _told(_course(), far) == [("TRN071", _OPTIMIZER.line)]


def test_updates_that_end_on_the_other_wall_of_a_falling_loss_are_silent() -> None:
    assert _told(_course(_FALLING), _strides(after=0.7, agree=-0.7, falls=0.6)) == []


def test_overshooting_by_little_is_silent() -> None:
    assert _told(_course(), _strides(after=0.7, agree=-0.7, falls=0.01)) == []


def test_momentum_that_carries_updates_uphill_is_told_of() -> None:
    turning = tuple(itertools.islice(itertools.cycle((0.8, -0.6, 0.5, -0.7)), _LOOKS))
    climbing = tuple(itertools.islice(itertools.cycle((-0.5, 0.3, -0.4, -0.2)), _LOOKS))
    swinging = _strides(agree=0.8, lasting=turning, before=climbing, falls=0.02, momentum=0.99)
    (found,) = LossThatSwings().check(Run(observations=(_course(), swinging)))
    assert "momentum" in found.remedies[0].title


def test_stretches_of_like_rows_pull_to_and_fro_without_climbing() -> None:
    turning = tuple(itertools.islice(itertools.cycle((0.8, -0.6)), _LOOKS))
    assert _told(_course(), _strides(agree=0.8, lasting=turning, before=-0.6, falls=0.5)) == []


def _cycling(ends_high: bool) -> tuple[TrainingCourse, StridesSeen]:
    """Five cycles of twelve parts; the loss follows the rate."""
    phase = [((i + (6 if ends_high else 0)) % 12) for i in range(_LOOKS)]
    rates = tuple(0.01 + 0.1 * (1 - abs(p - 6) / 6) for p in phase)
    return _course(tuple(0.3 + 4 * rate for rate in rates)), _strides(rates=rates)


def test_cycles_that_gain_nothing_and_end_high_point_at_the_schedule() -> None:
    schedule = SchedulerSeen(type="CyclicLR", settings={}, built=_SCHEDULE, optimizer_built=_OPTIMIZER)
    assert _told(*_cycling(ends_high=True), schedule) == [("TRN071", _SCHEDULE.line)]


def test_cycles_that_end_low_are_silent() -> None:
    assert _told(*_cycling(ends_high=False)) == []


# -- noise -----------------------------------------------------------------------------------------------------------


def test_steps_of_noise_that_keep_the_loss_up_point_at_the_small_batch() -> None:
    assert _told(_course(), _strides(falls=0.8), _loader()) == [("TRN072", _LOADER.line)]


def test_with_a_batch_that_is_not_small_the_rate_is_the_line_to_edit() -> None:
    assert _told(_course(), _strides(falls=0.8), _loader(asked_for=64)) == [("TRN072", _OPTIMIZER.line)]


def test_short_steps_of_noise_are_how_every_training_ends() -> None:
    assert _told(_course(), _strides(falls=0.05), _loader()) == []


def test_momentum_repeats_every_stride() -> None:
    assert _told(_course(), _strides(falls=0.08, momentum=0.9), _loader()) == [("TRN072", _LOADER.line)]


def test_a_rate_that_falls_in_that_time_stills_the_noise_by_itself() -> None:
    assert _told(_course(), _strides(falls=0.8, rates=_FADED), _loader()) == []


def test_a_loss_of_several_backward_passes_is_compared_with_their_sum() -> None:
    assert _told(_course(losses=4 * _STEPS), _strides(falls=0.8), _loader()) == []


def test_large_batches_that_all_say_the_same_point_at_the_loader() -> None:
    assert _told(_course(_FALLING), _strides(agree=0.98), _loader(asked_for=4096)) == [("TRN072", _LOADER.line)]


def test_large_batches_are_silent_where_there_is_nothing_to_gain() -> None:
    same = _strides(agree=0.98)
    assert _told(_course(), same, _loader(asked_for=4096)) == []
    assert _told(_course(_FALLING), same, _loader(asked_for=4096, batches=1)) == []
    assert _told(_course(_FALLING), same, _loader(asked_for=4096, in_order=True)) == []
    assert _told(_course(_FALLING), same, _loader(asked_for=64)) == []
    later = (0.98,) * 30 + (0.6,) * 30
    assert _told(_course(_FALLING), _strides(agree=later), _loader(asked_for=4096)) == []


# -- all three -------------------------------------------------------------------------------------------------------


def test_several_optimizers_and_several_losses_are_silent() -> None:
    for changes in ({"optimizers": 2}, {"backward_lines": 2}, {"head": (-1.0,) * 30}):
        assert _told(_course(**changes), _strides(**_SLOPE)) == []
        assert _told(_course(**changes), _strides(falls=0.8), _loader()) == []


def test_they_give_way_to_a_louder_cause() -> None:
    jumped = _course(head=(0.5, 9.0) * 15, ratios=(0.9,) * 5, ratio_steps=tuple(range(5)))
    run = Run(observations=(jumped, _strides(**_SLOPE)))
    assert [d.code for d in examine(run, (*_RULES, LearningRateTooHigh())).diagnoses] == ["TRN001"]
    assert [d.code for d in examine(run, _RULES).diagnoses] == ["TRN070"]


def test_they_give_way_to_a_crash() -> None:
    crash = Crash(step=_STEPS, exception="KeyError", message="'x'", frames=(), source="live")
    run = Run(observations=(_course(), _strides(**_SLOPE), crash))
    assert examine(run, _RULES).diagnoses == ()


def test_they_are_hints_and_the_run_is_healthy() -> None:
    verdict = examine(Run(observations=(_course(), _strides(**_SLOPE))), _RULES)
    assert ([d.severity for d in verdict.diagnoses], verdict.outcome) == (["hint"], "healthy")
    assert verdict.diagnoses[0].step is not None
