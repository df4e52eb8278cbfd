import torch
from torch import nn
import torch.nn.functional as F


class TwoStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        features = torch.sigmoid(self.backbone(x))
        bits = torch.round(features)  # expect: WIR009
        return self.head(bits)


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = TwoStage()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
