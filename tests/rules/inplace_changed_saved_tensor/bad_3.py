import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))

    def forward(self, x):
        shares = torch.softmax(self.router(x), dim=-1)
        answers = torch.stack([expert(x) for expert in self.experts], dim=-1)
        self.last_shares = shares
        return (answers * shares.unsqueeze(1)).sum(-1)


class ShareLog:
    def __init__(self, least):
        self.least = least
        self.rows = []

    def after_forward(self, model):
        floor = self.least
        shares = model.last_shares.clamp_(floor, 1.0)  # expect: ERR012
        self.rows.append(shares.mean(0).tolist())


def train(model, optimizer, watchers, steps=4):
    for _ in range(steps):
        x = torch.randn(16, 8)
        loss = (model(x) - x).square().mean()
        for watcher in watchers:
            watcher.after_forward(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
mixture = Mixture(8, 3)
train(mixture, torch.optim.Adam(mixture.parameters(), lr=1e-3), [ShareLog(0.01)])
