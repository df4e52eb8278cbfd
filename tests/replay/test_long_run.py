"""A NaN that is born late in a long run: memory stays flat until then, and the step is found without a second run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os
import psutil
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.rand(90_100, 3) + 0.1
x[89_994, 1] = 0.0
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
process = psutil.Process()
for step, (rows,) in enumerate(DataLoader(TensorDataset(x), batch_size=10), start=1):
    loss = net(rows.log()).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step in (1_500, 8_999):
        print(process.memory_info().rss, flush=True)
"""
_FLAT_BYTES = 16 * 1024**2


def test_a_late_nan_is_found_with_flat_memory_and_no_second_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)

    done = subprocess.run(
        [sys.executable, "-m", "torchmedic", "run", "--json", "o.json", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )

    early, late = map(int, done.stdout.split())
    assert late - early < _FLAT_BYTES, f"{(late - early) / 1024**2:.1f} MiB more after 7,500 steps"
    found = json.loads((tmp_path / "o.json").read_text())["diagnoses"][0]
    assert (found["step"], found["where"]["line"], found["culprit"]["index"]) == (9000, 15, [4, 1]), done.stderr
    assert any("the loop's own body was run again" in note for note in found["evidence"]), found["evidence"]
