import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
forecaster = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
doubter = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
x = torch.randn(1000, 6)
y = (x[:, :1] * x[:, 1:2]) + 0.1 * x[:, 2:3] * torch.randn(1000, 1)
mean_optimizer = torch.optim.Adam(doubter.parameters(), lr=3e-3)  # expect: WIR141
error_optimizer = torch.optim.Adam(forecaster.parameters(), lr=1e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(50):
        answer = forecaster(x[rows])
        mean_loss = F.mse_loss(answer, y[rows])
        mean_optimizer.zero_grad()
        mean_loss.backward()
        mean_optimizer.step()
        error = (answer.detach() - y[rows]).abs()
        error_loss = F.mse_loss(doubter(x[rows]), error)
        error_optimizer.zero_grad()
        error_loss.backward()
        error_optimizer.step()
    print(f"epoch {epoch} mean {mean_loss.item():.3f} error {error_loss.item():.3f}")
