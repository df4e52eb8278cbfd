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
