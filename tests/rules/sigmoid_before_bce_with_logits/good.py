"""A sigmoid gate inside the model, and logits into the loss."""
import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(10, 32)
        self.gate = nn.Linear(10, 32)
        self.flags = nn.Linear(32, 2)

    def forward(self, x):
        return self.flags(torch.relu(self.hidden(x)) * torch.sigmoid(self.gate(x)))


torch.manual_seed(1)
x = torch.randn(500, 10)
y = torch.stack([x[:, 0] > 0.5, x[:, 1] * x[:, 2] > 0], dim=1).float()
model = Gated()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(50):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} rate {torch.sigmoid(model(x)).mean().item():.2f}")
