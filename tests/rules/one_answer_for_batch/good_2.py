import torch
from torch import nn


class Summary(nn.Module):
    """One answer for a whole recording of many frames, which several people have judged."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(6, 24), nn.Tanh())
        self.answer = nn.Linear(24, 1)

    def forward(self, frames):
        return self.answer(self.embed(frames).mean(dim=0))


torch.manual_seed(0)
recordings = torch.randn(80, 40, 6) + torch.randn(80, 1, 6)
quality = recordings[:, :, 0].mean(1)
judges = quality[:, None] + 0.2 * torch.randn(80, 5)
model = Summary()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for row in torch.randperm(80):
        loss = (model(recordings[row]) - judges[row]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
