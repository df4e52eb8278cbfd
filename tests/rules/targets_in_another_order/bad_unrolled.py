"""A tagger whose answers are (time, batch, class) and whose tags are (batch, time)."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
tags = torch.randint(0, 4, (600, 15))
frames = F.one_hot(tags, 4).float() + 0.4 * torch.randn(600, 15, 4)
lstm, head = nn.LSTM(4, 24), nn.Linear(24, 4)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=5e-3)
for epoch in range(6):
    for rows in torch.randperm(600).split(20):
        scores = head(lstm(frames[rows].transpose(0, 1))[0])
        wanted = tags[rows]
        loss = F.cross_entropy(scores.reshape(-1, 4), wanted.reshape(-1))  # expect: LOS030
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
