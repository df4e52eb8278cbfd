"""What grows from step to step, or from batch to batch of an evaluation, is said before the numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.facts import MemoryPlan
from torchmedic.render.memory import plan_lines

_SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
def samples(count):
    return TensorDataset(torch.randn(count, 64))
model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 8)).cuda()
optimizer = torch.optim.Adam(model.parameters())
train, held_out = DataLoader(samples(16000), 16), DataLoader(samples({samples}), 2000)
kept, total = [], 0
def rate(x):
    return model(x.cuda()).square().mean()
for epoch in range(2):
    for (x,) in train:
        loss = rate(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {in_step}
    model.eval()
    total = 0
    for (x,) in held_out:
        {in_evaluation}
    model.train()
"""
_ACTIVATIONS = 2000 * 512 * 4


def _plan(
    folder: Path, *, in_step: str = "pass", in_evaluation: str = "total += rate(x).item()", samples: int = 200_000
) -> MemoryPlan:
    text = _SCRIPT.format(in_step=in_step, in_evaluation=in_evaluation, samples=samples)
    return plan_of_text(text, folder)


@pytest.mark.parametrize("in_step", ["pass", "kept.append(loss.detach())", "held = model(x.cuda().repeat(40, 1))"])
def test_what_stays_the_same_is_not_said_to_grow(in_step: str, tmp_path: Path) -> None:
    assert _plan(tmp_path, in_step=in_step).hoarded == ()


def test_what_every_step_leaves_is_told(tmp_path: Path) -> None:
    plan = _plan(tmp_path, in_step="kept.append(torch.ones(1 << 20, device='cuda'))")
    (found,) = plan.hoarded
    assert (found.what, found.bytes) == ("step", 4 << 20)
    assert found.where is not None
    assert "kept.append" in found.where.source
    assert "grows by 4.00 MiB per step" in next(iter(plan_lines(plan)))


def test_what_every_batch_of_an_evaluation_leaves_is_told(tmp_path: Path) -> None:
    (found,) = _plan(tmp_path, in_evaluation="total += rate(x)").hoarded
    assert found.what == "evaluation batch"
    assert found.bytes > _ACTIVATIONS
    assert found.left == 100 - 24


def test_few_batches_are_followed_to_the_end_and_into_the_next_step(tmp_path: Path) -> None:
    plan = _plan(tmp_path, in_evaluation="total += rate(x)", samples=10_000)
    assert plan.hoarded == ()
    assert min(plan.phase_peaks[phase] for phase in ("evaluation", "forward", "backward")) > 5 * _ACTIVATIONS
