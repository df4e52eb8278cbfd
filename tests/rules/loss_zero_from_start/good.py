"""Learn to tell speakers apart: the nearest stranger must be farther away than the second clip of a voice."""
import torch
from torch import nn

torch.manual_seed(0)
voices = torch.randn(60, 12)
encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)

for epoch in range(4):
    for rows in torch.randperm(60).split(12):
        first = encoder(voices[rows] + 0.4 * torch.randn(12, 12))
        second = encoder(voices[rows] + 0.4 * torch.randn(12, 12))
        likeness = -torch.cdist(first, second)
        own = likeness.diagonal()
        strangers = likeness.masked_fill(torch.eye(12, dtype=torch.bool), float("-inf"))
        hardest = strangers.max(dim=1).values
        loss = torch.clamp(0.5 + hardest - own, min=0).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
