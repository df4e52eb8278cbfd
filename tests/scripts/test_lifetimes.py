"""What a function has left is gone under watch as it is without: nothing of ours keeps a model or its data alive."""

from __future__ import annotations

from pathlib import Path

from tests.scripts.twice import twice

LIFETIMES = """
import gc, time, weakref
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

left = {}

def main(epochs):
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 5)
    x = torch.randn(256, 8)
    y = x.sum(1, keepdim=True)
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    held_out = torch.randn(64, 8)
    for epoch in range(epochs):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = ((model(inputs) - targets) ** 2).mean()
            loss.backward()
            optimizer.step()
        schedule.step()
        model.eval()
        with torch.no_grad():
            score = ((model(held_out) - held_out.sum(1, keepdim=True)) ** 2).mean().item()
        model.train()
    time.sleep(1.2)
    for name in ("model", "optimizer", "schedule", "x", "loader", "held_out", "loss"):
        left[name] = weakref.ref(locals()[name])
    left["weight"] = weakref.ref(model[0].weight)
    left["gradient"] = weakref.ref(model[0].weight.grad)

for epochs in (2, 12):
    main(epochs)
    gc.collect()
    print({name: reference() is None for name, reference in left.items()})
"""


def test_what_a_function_leaves_is_gone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LIFETIMES)
    bare, watched = twice(["train.py"], tmp_path)
    assert "False" not in bare.stdout.decode()
    assert watched.stdout == bare.stdout
