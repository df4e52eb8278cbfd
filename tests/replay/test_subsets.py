"""Samples of a subset are told by their index in the data set that was cut, where their owner can look them up."""

from __future__ import annotations

from pathlib import Path

from tests.running import rendered, run_watched

SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(60, 3), torch.randn(60, 1)
{fault}
part = Subset(Subset(TensorDataset(x, y), range(20, 60)), range(5, 35))
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for features, target in DataLoader(part, batch_size=10):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(features), target).backward()
    optimizer.step()
"""
FAILING = """
class Rows(TensorDataset):
    def __getitem__(self, i):
        if i == 47:
            raise ValueError("a broken row")
        return super().__getitem__(i)

TensorDataset = Rows
"""


def test_a_bad_row_is_told_by_its_place_in_the_whole(tmp_path: Path) -> None:
    script = tmp_path / "script" / "train.py"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(fault="x[47, 1] = float('nan')"))
    (found,) = run_watched(script).verdict.diagnoses
    assert found.culprit.sample == 47


def test_so_is_a_sample_that_fails(tmp_path: Path) -> None:
    script = tmp_path / "script" / "train.py"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(fault=FAILING))
    verdict = run_watched(script).verdict
    assert "47" in rendered(verdict), rendered(verdict)
    assert verdict.diagnoses[0].culprit.sample == 47
