import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
better, worse = torch.randn(200, 10) + 0.5, torch.randn(200, 10)
loader = DataLoader(TensorDataset(better, worse), batch_size=20, shuffle=True)
ranker = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1), nn.Sigmoid())
optimizer = torch.optim.SGD(ranker.parameters(), lr=0.1)

for epoch in range(3):
    for good, bad in loader:
        gap = ranker(good) - ranker(bad)
        loss = torch.relu(-1.0 - gap).sum()  # expect: LOS084
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
