"""Kernels copy what does not lie as they want it: for tensor cores, or because it is a part of something larger."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.running import plan_of_text

_LAYER = """
import torch
from torch import nn
torch.backends.cudnn.allow_tf32 = True
layer = {layer}.cuda()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(2):
    layer(torch.randn({shape}, device="cuda", requires_grad=True)).square().sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        ("nn.Conv1d(64, 64, 3, padding=1)", "16, 64, 4096"),
        ("nn.Conv2d(64, 64, 3, padding=1)", "16, 64, 64, 64"),
        ("nn.Conv3d(64, 64, 3, padding=1)", "16, 64, 16, 16, 16"),
    ],
)
def test_a_convolution_of_any_dimension_copies_its_data_and_its_result(tmp_path: Path, layer: str, shape: str) -> None:
    one = 16 * 64 * 4096 * 4
    workspace = plan_of_text(_LAYER.format(layer=layer, shape=shape), tmp_path).by_category["workspace"]
    assert 2 * one < workspace < 2.5 * one


def test_a_product_written_as_a_convolution_of_a_volume_copies_nothing(tmp_path: Path) -> None:
    plan = plan_of_text(_LAYER.format(layer="nn.Conv3d(64, 64, 1)", shape="16, 64, 16, 16, 16"), tmp_path)
    assert plan.by_category.get("workspace", 0) < 4 << 20


_JOINED = """
import torch
from torch import nn
up = nn.ConvTranspose2d(8, 8, 2, stride=2).double().cuda()
optimizer = torch.optim.SGD(up.parameters(), lr=0.1)
weights = torch.randn(16 * 8 * 128 * 128, device="cuda", dtype=torch.float64)
for _ in range(2):
    x = torch.randn(8, 8, 64, 64, device="cuda", dtype=torch.float64)
    skip = torch.randn(8, 8, 128, 128, device="cuda", dtype=torch.float64)
    joined = {joined}
    torch.dot(joined.flatten(), weights).backward()
    optimizer.step()
"""


def test_the_gradient_of_one_part_of_a_concatenation_is_copied_by_a_convolution(tmp_path: Path) -> None:
    """In double precision no other copy is made."""
    part = 8 * 8 * 128 * 128 * 8
    cases = ("torch.cat([up(x), skip], 1)", "torch.cat([up(x), skip], 0)")
    apart, whole = (plan_of_text(_JOINED.format(joined=joined), tmp_path) for joined in cases)
    assert apart.by_category.get("workspace", 0) - whole.by_category.get("workspace", 0) == pytest.approx(part, rel=0.1)


_TWO_USES = """
import torch
from torch import nn
layer = nn.Linear(256, 256).cuda()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x, noise = torch.randn(8192, 256, device="cuda"), torch.randn(8192, 256, device="cuda")
weights = torch.randn(8192 * 512, device="cuda")
for _ in range(2):
    hidden = layer(x)
    {uses}
    (alone + joined).backward()
    optimizer.step()
"""
_ALONE, _JOINED_USE = (
    "alone = (hidden * noise).sum()",
    "joined = torch.dot(torch.cat([hidden, noise], 1).flatten(), weights)",
)


def test_gradients_are_added_to_the_one_that_came_first_if_it_is_whole(tmp_path: Path) -> None:
    """The node made last is the first to give one; a part of a larger gradient cannot be written to."""
    part_first, whole_first = (
        plan_of_text(_TWO_USES.format(uses=f"{one}; {other}"), tmp_path).peak_allocated
        for one, other in ((_ALONE, _JOINED_USE), (_JOINED_USE, _ALONE))
    )
    assert part_first - whole_first == pytest.approx(8192 * 256 * 4, rel=0.05)
