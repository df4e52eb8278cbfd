"""Optimizers that step more rarely than others, and those that never do."""

from __future__ import annotations

from pathlib import Path

from tests.memory.running import plan_of_text
from torchmedic.checkups.memory.asking import Request

_RARE = """
import torch
from torch import nn
def net(width):
    return nn.Sequential(nn.Linear(64, width), nn.Tanh(), nn.Linear(width, 64)).cuda()
often, rare = net(64), net(4096)
first, second = torch.optim.Adam(often.parameters()), torch.optim.Adam(rare.parameters())
def update(model, optimizer):
    optimizer.zero_grad()
    model(torch.randn(512, 64, device="cuda")).square().mean().backward()
    optimizer.step()
for turn in range({turns}):
    for _ in range(4):
        update(often, first)
    {last}
"""
_HIDDEN = 512 * 4096 * 4


def test_an_optimizer_that_steps_rarely_is_waited_for(tmp_path: Path) -> None:
    plan = plan_of_text(_RARE.format(turns=20, last="update(rare, second)"), tmp_path)
    assert (plan.lost, plan.assumed) == (None, ())
    assert plan.steps < 20
    assert plan.phase_peaks["backward"] > _HIDDEN


def test_an_optimizer_that_never_steps_is_said_and_not_waited_for_long(tmp_path: Path) -> None:
    plan = plan_of_text(_RARE.format(turns=5000, last="pass"), tmp_path, request=Request(looking=0.5))
    assert plan.lost is None
    assert [one.where.line for one in plan.assumed if one.where is not None] == [7]
    assert "did not step" in plan.assumed[0].what


def test_one_without_anything_to_learn_is_not_waited_for(tmp_path: Path) -> None:
    text = _RARE.format(turns=20, last="pass")
    plan = plan_of_text(text.replace("(rare.parameters())", "(rare.requires_grad_(False).parameters())"), tmp_path)
    assert (plan.lost, plan.steps, plan.assumed) == (None, 2, ())


def test_terms_of_other_shapes_in_second_derivatives_are_no_sums_of_gradients(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn
critic = nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(2, 8), nn.Flatten(), nn.LazyLinear(1)).cuda()
optimizer = torch.optim.Adam(critic.parameters())
for _ in range(3):
    images = torch.rand(4, 3, 12, 12, device="cuda", requires_grad=True)
    slope, = torch.autograd.grad(critic(images).sum(), images, create_graph=True)
    optimizer.zero_grad()
    (slope.square().sum((1, 2, 3)) - 1).square().mean().backward()
    optimizer.step()
"""
    plan = plan_of_text(text, tmp_path)
    assert plan.lost is None


def test_an_error_on_the_pretended_card_is_not_called_the_scripts_own(tmp_path: Path) -> None:
    text = _RARE.format(turns=2, last="{}")
    torn = plan_of_text(text.replace("{}", "often(torch.ones(2, 3, device='cuda'))"), tmp_path).lost
    plain = plan_of_text(text.replace("{}", "no_such_name"), tmp_path).lost
    assert torn is not None
    assert plain is not None
    assert (torn.in_pretence, plain.in_pretence) == (True, False)
