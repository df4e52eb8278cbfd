"""Random states at the borders of steps: exact where steps draw, not read at all where they do not."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from torchmedic.replay import generators
from torchmedic.replay.generators import RandomStates, StepStates


@pytest.fixture(autouse=True)
def _script_that_speaks_of_random(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generators, "_user_draws", lambda: True)


def _draws() -> list[float]:
    return [
        random.random(),
        random.gauss(0, 1),
        float(np.random.randn()),
        float(np.random.rand()),
        float(torch.rand(())),
    ]


def test_draws_are_the_same_after_states_were_put_back() -> None:
    np.random.randn()  # leaves the second of its pair of numbers in the generator
    before = RandomStates.now()
    first = _draws()
    assert _draws() != first
    before.restore()
    assert _draws() == first


def test_a_generator_that_no_step_draws_from_is_left_alone() -> None:
    states = StepStates()
    seen = [states.at_step_end() for _ in range(200)]
    read = [step for step, state in enumerate(seen, 1) if state.numpy is not None]
    assert read == [*range(1, 16), 64, 128, 192]
    assert [step for step, state in enumerate(seen, 1) if state.python is not None] == read


@pytest.mark.parametrize("begins_at", [3, 70])
def test_a_generator_that_steps_draw_from_is_read_at_every_step(begins_at: int) -> None:
    states = StepStates()
    for step in range(1, 300):
        if step >= begins_at:
            np.random.rand()
        state = states.at_step_end()
        if step >= begins_at + 64:
            assert state.numpy == generators._numpy_state()
            assert state.python is None or step % 64 == 0


def test_what_is_drawn_before_gradients_are_cleared_is_seen_at_every_clearing() -> None:
    states = StepStates()
    for _ in range(200):
        since = states.at_step_end()
        torch.rand(())
        assert states.is_time_at_zero_grad()
        assert states.at_zero_grad(since) is not None


def test_where_nothing_is_drawn_before_gradients_are_cleared_looks_become_rare() -> None:
    states = StepStates()
    looks = 0
    for _ in range(200):
        since = states.at_step_end()
        if states.is_time_at_zero_grad():
            looks += 1
            assert states.at_zero_grad(since) is None
    assert looks == 15 + 3


def test_on_a_card_the_host_is_read_only_where_steps_draw_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generators, "_cuda_states", lambda: [(1, 0)])
    idle, drawing = StepStates(), StepStates()
    seen = [idle.at_step_end().torch_cpu is not None for _ in range(200)]
    assert seen.count(True) == 15 + 3
    for _ in range(200):
        torch.rand(())
        assert drawing.at_step_end().torch_cpu is not None
