"""The vectors are frozen for the first epochs only."""
import torch
from torch import nn
import torch.nn.functional as F

WARM_UP = 2

torch.manual_seed(0)
tokens = torch.randint(0, 200, (400, 5))
labels = tokens[:, 0] % 3
words, out = nn.Embedding.from_pretrained(torch.randn(200, 16)), nn.Linear(16, 3)
optimizer = torch.optim.Adam([{"params": words.parameters(), "lr": 1e-3}, {"params": out.parameters()}], lr=3e-3)
for epoch in range(4):
    if epoch == WARM_UP:
        words.weight.requires_grad_()
    for idx in torch.randperm(400).split(40):
        loss = F.cross_entropy(out(words(tokens[idx]).mean(1)), labels[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
