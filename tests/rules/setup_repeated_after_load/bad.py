import io

import torch
from torch import nn


class ActNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(size))
        self.scale = nn.Parameter(torch.ones(size))
        self.initialized = False  # expect: WIR260

    def forward(self, x):
        if not self.initialized:
            with torch.no_grad():
                self.shift.copy_(-x.mean(0))
                self.scale.copy_(1 / (x.std(0) + 1e-6))
            self.initialized = True
        return self.scale * (x + self.shift)


def network():
    return nn.Sequential(ActNorm(6), nn.Linear(6, 32), nn.ReLU(), ActNorm(32), nn.Linear(32, 1))


torch.manual_seed(0)
x = 3 + 2 * torch.randn(400, 6)
y = x[:, :1] * 0.5 - x[:, 1:2]
model = network()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(10):
    for rows in torch.randperm(300).split(50):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.4f}")
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
restored = network()
restored.load_state_dict(torch.load(file))
restored.eval()
with torch.no_grad():
    print(f"restored {nn.functional.mse_loss(restored(x[300:310]), y[300:310]).item():.4f}")
