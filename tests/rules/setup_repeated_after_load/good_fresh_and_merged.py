import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.initialized = False

    def forward(self, x):
        if not self.initialized:
            self.scale.data.copy_(1 / x.std(0))
            self.initialized = True
        return x * self.scale


class Adapted(nn.Linear):
    """A layer with an update of low rank, which is merged into its weight for the evaluation."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        self.a, self.b = nn.Parameter(torch.randn(2, inputs) * 0.1), nn.Parameter(torch.zeros(outputs, 2))
        self.merged = False

    def train(self, mode=True):
        if mode == self.merged:
            self.weight.data += (-1 if mode else 1) * (self.b @ self.a)
            self.merged = not mode
        return super().train(mode)

    def forward(self, x):
        if not self.merged:
            return super().forward(x) + x @ self.a.t() @ self.b.t()
        return super().forward(x)


def network():
    return nn.Sequential(Scaled(6), Adapted(6, 16), nn.ReLU(), nn.Linear(16, 1))


torch.manual_seed(0)
x = 2 * torch.randn(400, 6)
y = x[:, :1] * 0.5 - x[:, 1:2]
model, other = network(), network()
other.load_state_dict(model.state_dict())  # before either has seen anything
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(10):
    for rows in torch.randperm(300).split(50):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
other(x[:50])
restored = network()
missing = restored.load_state_dict({k: v for k, v in model.state_dict().items() if k != "0.scale"}, strict=False)
restored.eval()
with torch.no_grad():
    print(f"loss {loss.item():.4f} restored {nn.functional.mse_loss(restored(x), y).item():.4f}, without {missing.missing_keys}")
