"""Cures that are put into effect, on models that are not built for them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.asking import Request


def test_blocks_beside_a_head_are_computed_again(tmp_path: Path) -> None:
    text = """
        import torch
        from torch import nn
        class Block(nn.Sequential):
            def __init__(self):
                super().__init__(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128))
        model = nn.Sequential(*[Block() for _ in range(4)], nn.LayerNorm(128), nn.Sequential(nn.Linear(128, 1))).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            model(torch.randn(20000, 128, device="cuda")).pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    """
    script = textwrap.dedent(text)
    before = plan_of_text(script, tmp_path).peak_allocated
    assert plan_of_text(script, tmp_path, request=Request(remedy="checkpointing")).peak_allocated < 0.7 * before
