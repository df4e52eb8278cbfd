"""Sensor windows, classified by the last state of an LSTM."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
windows = torch.randn(320, 20, 6).cumsum(1)
labels = (windows[:, -1, 0] > windows[:, 0, 0]).long()
loader = DataLoader(TensorDataset(windows, labels), batch_size=32, shuffle=True)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 24)  # expect: WIR071
        self.out = nn.Linear(24, 2)

    def forward(self, x):
        states, _ = self.lstm(x)
        return self.out(states[:, -1])


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
