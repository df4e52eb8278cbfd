import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 32)
        self.last = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.first(x))
        x = F.dropout(x, p=0.5, training=self.training)
        return self.last(x)


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
model.eval()
with torch.no_grad():
    print(f"final {F.mse_loss(model(x), y).item():.3f}")
