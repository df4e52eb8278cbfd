"""What is done again in a fork draws the numbers that the run itself would have drawn next."""

from __future__ import annotations

import random

import numpy as np
import torch

from torchmedic.probes.crash.refetch import Tell, told_by_fork


def _draw() -> list[float]:
    return [random.random(), float(np.random.rand()), float(torch.rand(()))]


def _tell_draws(tell: Tell) -> None:
    tell(drawn=_draw())


def test_a_fork_draws_what_the_run_would_draw_next() -> None:
    _draw()  # NumPy seeds itself no sooner
    told = told_by_fork(_tell_draws)
    assert told["drawn"] == _draw()
