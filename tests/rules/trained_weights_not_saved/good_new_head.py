import os
import tempfile

import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, layer, rank=2):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.adapter_down = nn.Linear(layer.in_features, rank, bias=False)
        self.adapter_up = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.adapter_up.weight)

    def forward(self, x):
        return self.layer(x) + self.adapter_up(self.adapter_down(x))


class Classifier(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = Adapter(body)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def adapter_weights(model):
    return {name: value for name, value in model.state_dict().items() if "adapter" in name}


torch.manual_seed(0)
body = nn.Linear(8, 16)
x = torch.randn(400, 8)
y = x[:, :3].argmax(1)
model = Classifier(body)
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(400).split(50):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
path = os.path.join(tempfile.mkdtemp(), "adapter.pt")
torch.save(adapter_weights(model), path)

other = (x[:, 3:6]).argmax(1)
tuned = Classifier(body)
tuned.load_state_dict(torch.load(path), strict=False)
tuned.eval()
print(f"before tuning {(tuned(x).argmax(1) == other).float().mean().item():.2f}")
tuned.train()
optimizer = torch.optim.Adam([p for p in tuned.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(3):
    loss = nn.functional.cross_entropy(tuned(x), other)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"tuned loss {loss.item():.3f}")
