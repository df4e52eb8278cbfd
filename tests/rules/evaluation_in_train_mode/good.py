import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
x_val, y_val = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def validate():
    model.eval()
    with torch.no_grad():
        return F.mse_loss(model(x_val), y_val).item()


for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        model.train()
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} validation {validate():.3f}")
