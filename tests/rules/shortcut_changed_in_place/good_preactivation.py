import torch
from torch import nn


class ConvNormAct(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv, self.norm = nn.Conv1d(inputs, outputs, 3, padding=1), nn.BatchNorm1d(outputs)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class PreAct(nn.Module):
    """The shortcut of this block begins behind its activation, as in the second paper on residual networks."""

    def __init__(self, channels):
        super().__init__()
        self.act = nn.Sequential(nn.BatchNorm1d(channels), nn.ReLU(inplace=True))
        self.relu = nn.ReLU(inplace=True)
        self.first, self.second = nn.Conv1d(channels, 8, 3, padding=1), nn.Conv1d(8, channels, 1)

    def forward(self, x):
        x = self.relu(x)
        out = self.second(self.act[1](self.first(x)))
        out += x
        return out


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(ConvNormAct(channels, 8), nn.Conv1d(8, channels, 1))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        identity = x
        out = self.body(x)
        out += identity
        return self.relu(out)


class Late(nn.Module):
    """Its branch begins with an activation in place, on what an activation has made already."""

    def __init__(self, channels):
        super().__init__()
        self.branch = nn.Sequential(nn.ReLU(inplace=True), nn.Conv1d(channels, channels, 3, padding=1))

    def forward(self, x):
        return x + self.branch(x)


torch.manual_seed(0)
t = torch.linspace(0, 6, 32)
waves = torch.sin(t * (1 + 3 * torch.rand(300, 1, 1)) + 6 * torch.rand(300, 1, 1))
model = nn.Sequential(ConvNormAct(1, 4), Block(4), nn.MaxPool1d(1), Late(4), PreAct(4), nn.Conv1d(4, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(300).split(30):
        loss = nn.functional.mse_loss(model(waves[rows]), waves[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
