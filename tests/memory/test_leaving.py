"""Loops that train and are no loops over a data loader: they are left for what stands behind them."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from tests.memory.running import plan_of_text
from torchmedic.facts import MemoryPlan
from torchmedic.probes.source.loops import innermost_loop, line_behind

_BEGIN = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 8)).cuda()
optimizer = torch.optim.Adam(model.parameters())
def update(count=16):
    model.train()
    loss = model(torch.randn(count, 64, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
def judge():
    model.eval()
    return model(torch.randn(4000, 64, device="cuda")).sum().item()
"""
_OUTPUT = 4000 * 512 * 4


def _plan(rest: str, folder: Path) -> MemoryPlan:
    return plan_of_text(_BEGIN + textwrap.dedent(rest), folder)


@pytest.mark.parametrize(
    "rest",
    [
        "for _ in range(500): update()\njudge()",
        "step = 0\nwhile step < 500:\n    update()\n    step += 1\nvalue = judge()",
        "while True:\n    if update() is None:\n        break\njudge()",
        "for epoch in range(50):\n    for start in range(0, 500, 16):\n        loss = update()\n    judge()",
        "for epoch in range(50):\n    for _ in range(500):\n        update()\njudge()",
        "def run():\n    for _ in range(500):\n        update()\n    return judge()\nrun()",
        "try:\n    for _ in range(500):\n        update()\nexcept KeyboardInterrupt:\n    pass\njudge()",
        "with torch.enable_grad():\n    for _ in range(500):\n        update()\n    judge()",
        "for step in range(500):\n    update()\n    if step > 3:\n        break\nelse:\n    judge()",
    ],
)
def test_what_stands_behind_the_loop_is_followed(rest: str, tmp_path: Path) -> None:
    plan = _plan(rest, tmp_path)
    assert (plan.lost, plan.steps, plan.unreached) == (None, 2, ())
    assert plan.phase_peaks["evaluation"] > _OUTPUT > plan.phase_peaks["forward"] - plan.by_category["workspace"]
    assert plan.phase == "evaluation"


@pytest.mark.parametrize(
    "rest",
    [
        "def run():\n    for _ in range(500):\n        update()\nrun()\njudge()",
        "with torch.enable_grad():\n    for _ in range(500):\n        update()\njudge()",
    ],
)
def test_where_nothing_stands_behind_it_the_script_is_left(rest: str, tmp_path: Path) -> None:
    plan = _plan(rest, tmp_path)
    assert (plan.lost, plan.steps) == (None, 2)
    assert [one.what for one in plan.unreached] == ["evaluation"]


def test_training_that_begins_again_is_no_evaluation(tmp_path: Path) -> None:
    once = "for epoch in range(9):\n    for _ in range(500):\n        update(900)\n    torch.ones(9, device='cuda')\n"
    assert "evaluation" not in _plan(once, tmp_path).phase_peaks


def test_the_rest_of_the_round_is_followed_first(tmp_path: Path) -> None:
    """Two optimizers, one of which steps before the other: the round ends behind both."""
    rest = """
    other = nn.Linear(64, 4096).cuda()
    second = torch.optim.Adam(other.parameters())
    for turn in range(500):
        for _ in range(3):
            update()
        other(torch.randn(8, 64, device="cuda")).sum().backward()
        second.step()
        rounds = turn
    assert second.state and rounds
    judge()
    """
    plan = _plan(rest, tmp_path)
    assert (plan.lost, plan.unreached) == (None, ())
    assert plan.phase_peaks["evaluation"] > _OUTPUT


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("for a in x:\n    f()\ng()", 3),
        ("for a in x:\n    f()", 0),
        ("if y:\n    for a in x:\n        f()\ng()", 4),
        ("with y:\n    for a in x:\n        f()\ng()", 0),
        ("while y:\n    for a in x:\n        f()\nelse:\n    g()", 5),
        ("try:\n    for a in x:\n        f()\nfinally:\n    g()", 5),
        ("try:\n    y\nfinally:\n    for a in x:\n        f()\ng()", 0),
        ("for a in x:\n    f()\n@y\ndef g(): pass", 3),
        ("match y:\n    case 1:\n        for a in x:\n            f()\ng()", 5),
    ],
)
def test_the_way_out_of_a_loop_is_read_off_the_source(text: str, line: int, tmp_path: Path) -> None:
    file = tmp_path / "looped.py"
    file.write_text(text)
    work = next(node.lineno for node in ast.walk(ast.parse(text)) if getattr(getattr(node, "func", 0), "id", "") == "f")
    loop = innermost_loop(compile(text, str(file), "exec"), (work,))
    assert loop is not None
    assert line_behind(str(file), loop) == line
