import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = nn.Linear(8, 32), nn.Linear(32, 32), nn.Linear(32, 1)
        for layer in (self.first, self.second, self.out):
            nn.init.constant_(layer.weight, 0.05)  # expect: WIR087
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.out(torch.relu(self.second(torch.relu(self.first(x)))))


torch.manual_seed(0)
x = torch.randn(640, 8)
y = (x[:, :1] * x[:, 1:2]) + x[:, 2:3]
model = Regressor()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
