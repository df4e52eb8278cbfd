"""Classify short sequences; the log-softmax has the wrong dim."""
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.rnn = nn.GRU(4, 16, batch_first=True)
        self.head = nn.Linear(16, classes)
        self.log_softmax = nn.LogSoftmax(dim=0)  # expect: LOS007

    def forward(self, x):
        _, last = self.rnn(x)
        return self.log_softmax(self.head(last[-1]))


torch.manual_seed(0)
x = torch.randn(300, 6, 4)
y = x[:, :, 0].sum(1).div(2).round().long().clamp(-1, 1) + 1
model = Classifier()
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(30):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
