import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
        self.projector = nn.Linear(4, 6)

    def forward(self, x):
        features = self.body(x)
        return features, self.projector(features)


torch.manual_seed(0)
x = torch.randn(300, 8)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(40):
    rows = torch.randperm(300)[:64]
    first = nn.functional.normalize(model(x[rows] + 0.1 * torch.randn(64, 8))[1], dim=1)
    second = nn.functional.normalize(model(x[rows] + 0.1 * torch.randn(64, 8))[1], dim=1)
    loss = nn.functional.cross_entropy(first @ second.T / 0.2, torch.arange(64))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.3f}")

# The projector is there for the training alone.
features = {name: value for name, value in model.state_dict().items() if not name.startswith("projector")}
served = Encoder()
served.load_state_dict(features, strict=False)
served.eval()
with torch.no_grad():
    print(f"spread of the features {served(x)[0].std().item():.3f}")
