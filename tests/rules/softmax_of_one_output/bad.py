"""Spam or not, by one output and a softmax."""
import torch
from torch import nn

torch.manual_seed(0)
words = torch.rand(400, 12)
spam = (words[:, 0] + words[:, 1] > 1.0).float().unsqueeze(1)
model = nn.Sequential(
    nn.Linear(12, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
    nn.Softmax(dim=1),  # expect: LOS015
)
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(len(words)).split(40):
        loss = criterion(model(words[rows]), spam[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
