"""Kernels of attention differ in what they keep, and cards in the kernel that they take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.asking import Request

_SCRIPT = """
import torch
from torch import nn
layers = nn.ModuleList(nn.MultiheadAttention(256, 4, batch_first=True) for _ in range(6)).cuda()
optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
mask = torch.zeros(8, 512, dtype=torch.bool, device="cuda")
for _ in range(2):
    x = torch.randn(8, 512, 256, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        for layer in layers:
            x, _ = layer(x, x, x, key_padding_mask=mask, need_weights=False)
    x.sum().backward()
    optimizer.step()
"""


def test_attention_of_a_large_card_needs_no_copy_to_join_its_heads(tmp_path: Path) -> None:
    def activations(card: str) -> int:
        return plan_of_text(_SCRIPT, tmp_path, request=Request(card=card)).by_category["activations"]

    one = 8 * 512 * 256 * 2
    assert activations("A100-80") - activations("H200") == pytest.approx(6 * one, rel=0.2)
    assert activations("A100-80") == activations("4090")


_HEADS_APART = """
import torch
from torch import nn
layer = nn.Conv2d(64, 192, 1).cuda()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(2):
    x = torch.randn(4, 64, 32, 32, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        {heads}
        y = nn.functional.scaled_dot_product_attention(q, k, v)
    y.float().sum().backward()
    optimizer.step()
"""
_LAST = "q, k, v = layer(x).reshape(4, 3, 2, 32, 1024).transpose(-1, -2).unbind(1)"
_IN_ONE_PIECE = "q, k, v = layer(x).reshape(4, 3, 2, 32, 1024).transpose(-1, -2).contiguous().unbind(1)"


def test_no_fused_kernel_reads_heads_whose_numbers_lie_apart(tmp_path: Path) -> None:
    """Then the matrix of weights is made, and in full precision, whatever autocast says."""
    matrix = 4 * 2 * 1024 * 1024 * 4
    apart, together = (plan_of_text(_HEADS_APART.format(heads=h), tmp_path) for h in (_LAST, _IN_ONE_PIECE))
    assert apart.peak_allocated > matrix
    assert together.peak_allocated < matrix / 2
    assert matrix in {tensor.bytes for tensor in apart.largest}
