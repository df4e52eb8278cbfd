"""Frame differences of a film, taken in uint8 before training."""
import torch
from torch import nn


def film(frames=240):
    base = torch.randint(40, 200, (64,))
    flicker = torch.randint(-30, 30, (frames, 64))
    return (base + flicker).clamp(0, 255).to(torch.uint8)


torch.manual_seed(0)
frames = film()
motion = frames[1:] - frames[:-1]  # expect: DAT004
x = motion.float() / 255
y = (x.mean(1) > x.mean()).long()
model = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for rows in torch.randperm(len(x)).split(20):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
