import torch
import torch.nn.functional as F
from torch import nn


def set_mode(mode, parts):
    for part in parts:
        if mode == "train":
            part.train()
        if mode == "eval":
            part.eval()


@torch.no_grad()
def accuracy(model, x, y):
    set_mode("eval", [model])
    right = (model(x).argmax(1) == y).float().mean().item()
    set_mode("train", [model])
    return right


torch.manual_seed(0)
x = torch.randn(800, 12)
y = (x @ torch.randn(12, 5)).argmax(1)
model = nn.Sequential(nn.Linear(12, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(60):
    rows = torch.randint(0, 600, (32,))
    loss = F.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 9:
        print(f"step {step} loss {loss.item():.3f} right {accuracy(model, x[600:], y[600:]):.2f}")
