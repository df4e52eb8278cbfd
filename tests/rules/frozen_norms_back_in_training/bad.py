"""A network whose normalisation is to stay as it was trained, fed with tiny batches."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))

    def freeze_norms(self):
        for layer in self.modules():
            if isinstance(layer, nn.BatchNorm1d):
                layer.eval()  # expect: WIR122

    def forward(self, x):
        return self.body(x)


torch.manual_seed(0)
x = torch.randn(96, 6)
y = x[:, :1] - x[:, 1:2]
net = Net()
net.freeze_norms()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    net.train()
    for idx in torch.randperm(96).split(4):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x[idx]), y[idx]).backward()
        optimizer.step()
