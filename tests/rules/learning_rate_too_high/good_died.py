"""The rate divided by the batch that it is meant for: the same network lives."""

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.kind, self.place = nn.Linear(32, 3), nn.Linear(32, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.trunk(x)
        return self.kind(h), self.place(h)


def scaled(args: SimpleNamespace) -> SimpleNamespace:
    args.lr = args.base_lr * args.batch_size / 256
    return args


args = scaled(SimpleNamespace(base_lr=0.02, lr=0.0, batch_size=32, epochs=8))
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)  # so that the numbers do not hang on the processor
centres = 3 * torch.randn(3, 20)
label = torch.randint(0, 3, (1024,))
x = centres[label] + torch.randn(1024, 20)
spot = x[:, :2].abs().sqrt()
model = TwoHeads()
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
for epoch in range(args.epochs):
    for rows in torch.randperm(1024).split(args.batch_size):
        kind, place = model(x[rows])
        loss = F.cross_entropy(kind, label[rows]) + F.smooth_l1_loss(place, spot[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
