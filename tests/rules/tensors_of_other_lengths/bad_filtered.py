import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
signals = torch.randn(200, 12)
labels = (signals[:, 0] > 0).long()
loud = signals.abs().max(dim=1).values > 1.5
signals = signals[loud]
data = TensorDataset(signals, labels)  # expect: ERR278
model = nn.Linear(12, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for rows, target in DataLoader(data, batch_size=20, shuffle=True):
    loss = nn.functional.cross_entropy(model(rows), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
