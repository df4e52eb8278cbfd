"""What comes behind the followed steps: evaluations that need more than the training, and what is left unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.facts import MemoryPlan
from torchmedic.render.memory import plan_lines

_TRAINING = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
def samples(count):
    return TensorDataset(torch.randn(count, 64), torch.randn(count, 8))
model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 8)).cuda()
optimizer = torch.optim.Adam(model.parameters())
train, held_out = DataLoader(samples(400), 16, shuffle=True), DataLoader(samples(6000), 2000)
def update(x, y):
    loss = (model(x.cuda()) - y.cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
def validate():
    model.eval()
    total = sum((model(x.cuda()) - y.cuda()).pow(2).mean().item() for x, y in held_out)
    model.train()
    return total / len(held_out)
"""
_EPOCHS = """
for epoch in range(3):
    for x, y in train:
        update(x, y)
    validate()
"""
_ONE_OUTPUT = 2000 * 512 * 4


def _plan(loop: str, folder: Path) -> MemoryPlan:
    return plan_of_text(_TRAINING + loop, folder)


def test_an_evaluation_with_larger_batches_is_the_peak(tmp_path: Path) -> None:
    plan = _plan(_EPOCHS, tmp_path)
    assert (plan.lost, plan.phase, plan.steps, plan.unreached) == (None, "evaluation", 2, ())
    # The graph keeps what the activation function makes, beside its input while it does.
    assert plan.phase_peaks["evaluation"] - plan.phase_peaks["backward"] > _ONE_OUTPUT
    quiet = _plan(_EPOCHS.replace("    validate()", "    with torch.no_grad(): validate()"), tmp_path)
    assert quiet.phase == "evaluation"
    assert any("in evaluation after step 2" in line for line in plan_lines(plan))


@pytest.mark.parametrize(
    "loop",
    [
        "def endless():\n    while True:\n        yield from train\nfor x, y in endless(): update(x, y)",
        "batches = iter(train)\nfor _ in range(20): update(*next(batches))",
        "for _ in range(20): update(*next(iter(train)))",
        "for x, y in train: update(x, y)\nfor x, y in train: update(x, y)",
        "for step in range(2000):\n    update(torch.randn(16, 64), torch.randn(16, 8))",
    ],
)
def test_a_training_without_an_evaluation_is_left_as_ever(loop: str, tmp_path: Path) -> None:
    plan = _plan(loop, tmp_path)
    assert plan.lost is None
    assert plan.steps in (2, 3)
    assert plan.phase != "evaluation"
    # The loader that nobody asked, and the function that nobody called.
    assert [(one.what, one.where.line) for one in plan.unreached] == [("loader", 9), ("evaluation", 16)]
    assert any("these lines were not come to" in line for line in plan_lines(plan))


def test_an_evaluation_that_fails_without_numbers_costs_nothing(tmp_path: Path) -> None:
    plan = _plan(_EPOCHS.replace("    validate()", "    assert validate() > 1000"), tmp_path)
    assert (plan.lost, plan.phase) == (None, "evaluation")


def test_steps_are_left_before_the_script_reaches_out(tmp_path: Path) -> None:
    reached = tmp_path / "reached"
    call = f"    import subprocess; subprocess.run(['touch', {str(reached)!r}])"
    plan = _plan(_EPOCHS.replace("    validate()", call), tmp_path)
    assert (plan.lost, plan.steps) == (None, 2)
    assert not reached.exists()


def test_a_loader_of_batches_that_were_followed_already_is_not_missed(tmp_path: Path) -> None:
    more = "test = DataLoader(samples(500), 1000)\n"
    assert _plan(more + _EPOCHS + "validate()", tmp_path).unreached == ()
    larger = _plan(more.replace("1000", "3000") + _EPOCHS, tmp_path).unreached
    assert [one.what for one in larger] == ["loader"]


def test_an_evaluation_that_cannot_be_followed_is_said_to_be_missing(tmp_path: Path) -> None:
    broken = _EPOCHS.replace("    validate()", "    model[0](torch.randn(9, 9).cuda())")
    plan = _plan(broken, tmp_path)
    assert plan.lost is None
    assert [(one.what, one.where.source.strip()) for one in plan.unreached if one.what == "evaluation"] == [
        ("evaluation", "model[0](torch.randn(9, 9).cuda())")
    ]


@pytest.mark.parametrize(
    "way",
    [
        "    with torch.inference_mode(): validate()",
        "    torch.inference_mode(validate)()",
        "    torch.inference_mode()(validate)()",
        "    with torch.inference_mode(True), torch.inference_mode(mode=False): validate()",
    ],
)
def test_evaluation_in_inference_mode_is_followed(way: str, tmp_path: Path) -> None:
    plan = _plan(_EPOCHS.replace("    validate()", way), tmp_path)
    quiet = _plan(_EPOCHS.replace("    validate()", "    with torch.no_grad(): validate()"), tmp_path)
    assert plan.phase_peaks["evaluation"] == quiet.phase_peaks["evaluation"]
