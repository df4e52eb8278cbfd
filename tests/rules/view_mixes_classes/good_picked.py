"""Label every position of a signal; scores are flattened for the loss."""
import torch
import torch.nn.functional as F
from torch import nn


class Labeller(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.conv = nn.Conv1d(1, 16, 5, padding=2)
        self.out = nn.Conv1d(16, classes, 1)

    def forward(self, x):
        return self.out(torch.relu(self.conv(x)))


torch.manual_seed(0)
signal = torch.randn(200, 1, 20)
labels = (signal.squeeze(1) > 0.5).long() + (signal.squeeze(1) > -0.5).long()
model = Labeller()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for rows in torch.randperm(len(signal)).split(20):
        scores = model(signal[rows])
        flat = F.log_softmax(scores, dim=1).permute(0, 2, 1).reshape(-1, 3)
        wanted = labels[rows].reshape(-1)
        loss = -flat[torch.arange(len(wanted)), wanted].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
