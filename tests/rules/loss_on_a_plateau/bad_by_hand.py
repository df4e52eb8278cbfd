"""The rate is divided by 4 after every epoch, by hand, in a run of 18."""
import torch
from torch import nn

torch.manual_seed(1)
words = torch.randn(1200, 16)
topic = (words @ torch.randn(16, 6)).argmax(1)
model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(18):
    for rows in torch.randperm(len(words)).split(60):
        loss = nn.functional.cross_entropy(model(words[rows]), topic[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for group in optimizer.param_groups:
        group["lr"] /= 4  # expect: TRN070
    print(f"epoch {epoch} loss {loss.item():.4f}")
