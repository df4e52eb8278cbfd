"""A masked model of event logs: the labels are kept under a second name before the masking, and not copied."""

import torch
from torch import nn
import torch.nn.functional as F

MASK, KINDS, LENGTH = 1, 40, 16


class Filler(nn.Module):
    def __init__(self):
        super().__init__()
        self.events = nn.Embedding(KINDS, 32)
        self.mix = nn.Conv1d(32, 32, 3, padding=1)
        self.out = nn.Linear(32, KINDS)

    def forward(self, ids):
        mixed = torch.relu(self.mix(self.events(ids).transpose(1, 2)))
        return self.out(mixed.transpose(1, 2))


def masked(ids):
    labels = ids.view(-1)  # expect: LOS103
    chosen = torch.rand(ids.shape) < 0.15
    ids[chosen] = MASK
    return ids, labels


torch.manual_seed(0)
logs = 2 + (torch.randint(0, 30, (800, 1)) + 2 * torch.arange(LENGTH)) % (KINDS - 2)
model = Filler()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(800).split(50):
        ids, labels = masked(logs[rows])
        loss = F.cross_entropy(model(ids).flatten(0, 1), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
