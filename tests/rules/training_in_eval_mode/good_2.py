"""Fine-tuning in `eval()` on purpose: the statistics come from a checkpoint and are to stay as they are."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build():
    return nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4))


torch.manual_seed(0)
trained = build()
for _ in range(20):
    trained(torch.randn(64, 12) * 2 + 1)
net = build()
net.load_state_dict(trained.state_dict())
net.eval()
y = torch.randint(0, 4, (400,))
x = torch.randn(4, 12)[y] + torch.randn(400, 12)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True):
        loss = nn.functional.cross_entropy(net(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
