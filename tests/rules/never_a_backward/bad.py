import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, 0] - 2 * x[:, 1]
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for idx in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[idx]).squeeze(1), y[idx])
        optimizer.step()  # expect: WIR090
    print(f"epoch {epoch} loss {loss.item():.3f}")
