"""Scores of a held-out part, gathered batch by batch: its 41 rows leave one for the last batch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Risk(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        return self.layers(x).squeeze()  # expect: ERR093


def rows(count):
    x = torch.randn(count, 5)
    return TensorDataset(x, (x[:, 0] > 0).float())


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    scores, labels = [], []
    for x, y in loader:
        scores.append(model(x))
        labels.append(y)
    return ((torch.cat(scores) > 0) == (torch.cat(labels) > 0.5)).float().mean().item()


torch.manual_seed(0)
model = Risk()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    model.train()
    for x, y in DataLoader(rows(64), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(x), y).backward()
        optimizer.step()
    print(evaluate(model, DataLoader(rows(41), batch_size=8)))
