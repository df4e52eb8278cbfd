"""Warnings come at the user's lines, once each, in steps that are traced as in those that are not."""

from __future__ import annotations

from pathlib import Path

from tests.scripts.twice import twice

_SCRIPT = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(30):
    loss = torch.nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    torch.add(torch.ones(2, 2), 1, out=torch.empty(3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_warnings_name_the_lines_that_they_name_without_us(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_SCRIPT)
    bare, watched = twice(["train.py"], tmp_path)
    assert bare.stderr.count(b"UserWarning") == 2
    assert watched.stderr.split(b"torchmedic:")[0] == bare.stderr
