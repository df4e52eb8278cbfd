"""Sequence-first attention over time takes its softmax over dim 0; the loss has its classes in dim 1."""
import torch
from torch import nn


class Pooling(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.rnn = nn.GRU(4, 16)
        self.score = nn.Linear(16, 1)
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        h, _ = self.rnn(x.transpose(0, 1))
        weight = torch.softmax(self.score(h), dim=0)
        return torch.log_softmax(self.head((weight * h).sum(0)), dim=1)


torch.manual_seed(0)
x = torch.randn(300, 6, 4)
y = x[:, :, 0].sum(1).div(2).round().long().clamp(-1, 1) + 1
model = Pooling()
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(30):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
