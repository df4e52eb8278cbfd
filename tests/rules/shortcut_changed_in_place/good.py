import torch
from torch import nn


class ResBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.branch = nn.Sequential(
            nn.ReLU(),
            nn.Conv1d(channels, 8, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv1d(8, channels, 1),
        )

    def forward(self, input):
        out = self.branch(input)
        out += input
        return out


torch.manual_seed(0)
t = torch.linspace(0, 6, 32)
waves = torch.sin(t * (1 + 3 * torch.rand(300, 1, 1)) + 6 * torch.rand(300, 1, 1))
model = nn.Sequential(nn.Conv1d(1, 4, 3, padding=1), ResBlock(4), ResBlock(4), nn.Conv1d(4, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(300).split(30):
        loss = nn.functional.mse_loss(model(waves[rows]), waves[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
