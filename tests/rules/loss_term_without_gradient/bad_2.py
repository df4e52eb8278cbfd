import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 20)
y = (x[:, 0] + 0.3 * torch.randn(400) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def penalty(model):
    return sum(p.data.square().sum() for p in model.parameters())  # expect: WIR011


for epoch in range(8):
    for features, labels in loader:
        loss = F.cross_entropy(model(features), labels) + 1e-2 * penalty(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
