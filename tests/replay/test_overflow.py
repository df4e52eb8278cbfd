"""When the state is copied before an update: seldom, and never a large one without a large gradient."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from torchmedic.replay.overflow import may_overflow


class OwnSgd(torch.optim.Optimizer):
    """An optimizer of the user's."""

    def __init__(self, parameters: Any) -> None:
        super().__init__(parameters, {"lr": 0.1})


def parameters(elements: int, dtype: torch.dtype = torch.float32) -> list[torch.nn.Parameter]:
    return [torch.nn.Parameter(torch.zeros(elements, dtype=dtype))]


@pytest.mark.parametrize(
    ("optimizer", "gradient", "expected"),
    [
        (torch.optim.Adam(parameters(10)), 1.0, False),
        (torch.optim.Adam(parameters(10)), 1e20, True),
        (torch.optim.Adam(parameters(10), eps=0.0), 1.0, True),
        (torch.optim.SGD(parameters(10), lr=1e9), 1.0, True),
        (torch.optim.SGD(parameters(10, torch.float16), lr=0.1), 1.0, True),
        (OwnSgd(parameters(10)), 1.0, True),
        (OwnSgd(parameters(2_000_000)), 1.0, False),
        (OwnSgd(parameters(2_000_000)), 1e20, True),
    ],
)
def test_only_risky_updates_are_prepared_for(optimizer: Any, gradient: float, expected: bool) -> None:
    assert may_overflow(optimizer, gradient) is expected
