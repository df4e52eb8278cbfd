"""Labels under a second name, and a copy that is masked; and a model of the next token whose labels are its input."""

import torch
from torch import nn
import torch.nn.functional as F

BEGIN, MASK, KINDS, LENGTH = 0, 1, 40, 12


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.events = nn.Embedding(KINDS, 24)
        self.read = nn.GRU(24, 48, batch_first=True)
        self.out = nn.Linear(48, KINDS)

    def forward(self, ids, labels):
        scores = self.out(self.read(self.events(ids))[0])
        return F.cross_entropy(scores[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def masked(ids):
    labels = ids
    ids = ids.clone()
    ids[torch.rand(ids.shape) < 0.15] = MASK
    return ids, labels


def begun(ids):
    labels = ids
    ids[:, 0] = BEGIN
    return ids, labels


torch.manual_seed(0)
logs = 2 + (torch.randint(0, 30, (600, 1)) + 2 * torch.arange(LENGTH)) % (KINDS - 2)
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for prepared in (masked, begun):
    for rows in torch.randperm(600).split(50):
        loss = model(*prepared(logs[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{prepared.__name__} loss {loss.item():.4f}")
