"""Mixed precision in two halves: weights and moments are loaded, the loss scale is not."""

import tempfile
from pathlib import Path

import torch
from torch import nn


class Training:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=20)

    def save(self, path):
        parts = {name: part.state_dict() for name, part in vars(self).items()}
        torch.save(parts, path)

    def load(self, path):
        checkpoint = torch.load(path, weights_only=True)
        for name in ("model", "optimizer"):
            getattr(self, name).load_state_dict(checkpoint[name])  # expect: WIR062

    def run(self, x, y, epochs):
        for epoch in range(epochs):
            for rows in torch.randperm(len(x)).split(50):
                with torch.autocast("cuda", dtype=torch.float16, enabled=x.is_cuda):
                    loss = nn.functional.cross_entropy(self.model(x[rows]), y[rows])
                self.optimizer.zero_grad()
                self.scaler.scale(loss).backward()
                self.scaler.step(self.optimizer)
                self.scaler.update()
            print(f"epoch {epoch} loss {loss.item():.2f}")


torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
with tempfile.TemporaryDirectory() as folder:
    first = Training()
    first.run(x, y, epochs=4)
    first.save(Path(folder) / "half.pt")
    second = Training()
    second.load(Path(folder) / "half.pt")
    second.run(x, y, epochs=3)
