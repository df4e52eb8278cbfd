import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TableNorm(nn.Module):
    """Standardises columns by running statistics."""

    def __init__(self, columns, momentum=0.1):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(columns))
        self.register_buffer("spread", torch.ones(columns))

    def forward(self, x):
        if self.training:
            self.mean = (1 - self.momentum) * self.mean + self.momentum * x.mean(0)
            self.spread = (1 - self.momentum) * self.spread + self.momentum * x.var(0)  # expect: NUM014
            return (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-5).sqrt()
        return (x - self.mean) / (self.spread + 1e-5).sqrt()


torch.manual_seed(0)
x = torch.randn(257, 6) * 3 + 5
y = (x[:, :1] - 5) * 0.5
loader = DataLoader(TensorDataset(x, y), batch_size=32)
model = nn.Sequential(TableNorm(6), nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    model.train()
    for features, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(features), target)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, float(nn.functional.mse_loss(model(x[:64]), y[:64])))
