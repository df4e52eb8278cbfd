"""Backward passes that are not one to a step: sums over many, and derivatives that are differentiated again."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.facts import MemoryPlan

_PASSES = """
import time, torch
from torch import nn
model = nn.Sequential(*[nn.Linear(256, 256) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
passes = []
for step in range(30):
    {first} and optimizer.zero_grad()
    x = torch.randn(4096, 256, device="cuda")
    for loss in {losses}:
        loss.backward()
    passes.append(step)
    if step == 6:
        time.process_time = lambda: {seconds}
    {last} and optimizer.step()
"""


@pytest.mark.parametrize("losses", ["[model(x).pow(2).mean()]", "[model(x).mean(), model(x).pow(2).mean()]"])
def test_steps_of_many_passes_are_updated_early(losses: str, tmp_path: Path) -> None:
    def of(seconds: float) -> MemoryPlan:
        first, last = "(step % 15 == 0)", "(step % 15 == 14)"
        return plan_of_text(_PASSES.format(first=first, last=last, seconds=seconds, losses=losses), tmp_path)

    whole, early = of(0), of(5)
    assert (whole.steps, early.steps) == (2, 1)
    for phase in ("forward", "backward", "optimizer"):
        assert early.phase_peaks[phase] == pytest.approx(whole.phase_peaks[phase], rel=1e-4)
    assert [one.what for one in early.assumed] == [
        "steps of many passes take long to follow; the update was made after 8 of them"
    ]


def test_an_early_update_makes_no_batches_of_two_sizes(tmp_path: Path) -> None:
    """One pass is left of the round that was cut short."""
    text = _PASSES.format(first="(step % 9 == 0)", last="(step % 9 == 8)", seconds=9, losses="[model(x).pow(2).mean()]")
    plan = plan_of_text(text.replace("range(30)", "range(3000)"), tmp_path)
    assert ["passes" in one.what for one in plan.assumed] == [True]


def test_derivatives_that_are_differentiated_again_are_followed(tmp_path: Path) -> None:
    text = """
        import torch
        model = torch.nn.Sequential(torch.nn.Linear(2, 512), torch.nn.Tanh(), torch.nn.Linear(512, 1)).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        for step in range(3):
            x = torch.rand(4096, 2, device="cuda", requires_grad=True)
            y = model(x)
            slope, = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)
            loss = (slope - x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path)
    assert (plan.lost, plan.steps, plan.assumed) == (None, 2, ())
    # The hidden layer behind `tanh`, and of the first derivative its gradient before and behind that.
    kept = plan.phase_peaks["forward"] - plan.by_category["workspace"]
    assert kept == pytest.approx(3 * 4096 * 512 * 4, rel=0.05)
    again = textwrap.dedent(text).replace("(slope - x)", "torch.autograd.grad(slope.sum(), x, create_graph=True)[0]")
    assert plan_of_text(again, tmp_path).lost is None


def test_an_inner_loop_is_no_end_of_a_pass(tmp_path: Path) -> None:
    """Gradients that are taken on the way leave a graph: an update there would stand on top of it."""
    text = """
        import time, torch
        time.process_time = lambda: 5.0
        model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        for step in range(3):
            optimizer.zero_grad()
            x = torch.randn(1024, 256, device="cuda")
            for _ in range(6):
                grads = torch.autograd.grad(model(x).mean(), model.parameters(), create_graph=True)
                x = x + grads[0].sum()
            model(x).mean().backward()
            optimizer.step()
    """
    plan = plan_of_text(textwrap.dedent(text), tmp_path)
    assert (plan.lost, plan.steps, plan.assumed) == (None, 2, ())
