"""Which layers are taken for a BatchNorm that normalises on one rank alone.

`DistributedDataParallel` refuses `SyncBatchNorm` on the host: bench/device_check.py checks a whole run on a card.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from torchmedic.probes.ranks.exam import normalises_alone


class ByHand(nn.BatchNorm2d):
    """Synchronised as libraries did before torch could: the statistics of all ranks are averaged in `forward`."""

    def forward(self, input: torch.Tensor) -> Any:
        return super().forward(input)


class Renamed(nn.BatchNorm1d):
    pass


@pytest.mark.parametrize("layer", [nn.BatchNorm1d(4), nn.BatchNorm2d(4), nn.BatchNorm3d(4), Renamed(4)])
def test_a_batchnorm_normalises_alone(layer: nn.Module) -> None:
    assert normalises_alone(layer)


@pytest.mark.parametrize("layer", [nn.SyncBatchNorm(4), ByHand(4), nn.InstanceNorm2d(4), nn.GroupNorm(2, 4)])
def test_a_layer_that_is_synchronised_or_needs_no_batch_does_not(layer: nn.Module) -> None:
    assert not normalises_alone(layer)


def test_converted_layers_are_left_out() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Sequential(nn.BatchNorm2d(4)))
    assert sum(map(normalises_alone, net.modules())) == 2
    assert not any(map(normalises_alone, nn.SyncBatchNorm.convert_sync_batchnorm(net).modules()))
