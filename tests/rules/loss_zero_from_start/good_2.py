import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
# Soon every pair is in the right order by more than the margin: the loss is 0 because all is learned.
better, worse = torch.randn(200, 10) + 4, torch.randn(200, 10) - 4
loader = DataLoader(TensorDataset(better, worse), batch_size=20, shuffle=True)
ranker = nn.Linear(10, 1)
optimizer = torch.optim.SGD(ranker.parameters(), lr=0.05)

for epoch in range(5):
    for good, bad in loader:
        gap = ranker(good) - ranker(bad)
        loss = torch.relu(4.0 - gap).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
