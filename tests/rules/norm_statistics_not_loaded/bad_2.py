import os
import tempfile

import torch
from torch import nn


def network():
    return nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 3))


def export(model, path):
    weights = {name: weight.detach().cpu() for name, weight in model.named_parameters()}  # expect: WIR127
    torch.save({"format": 2, "weights": weights}, path)
    return len(weights)


torch.manual_seed(0)
x = torch.randn(600, 6) * 40 + 200
y = (x[:, 0] > 200).long() + (x[:, 1] > 200).long()
model = network()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(600).split(50):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")

path = os.path.join(tempfile.mkdtemp(), "model.pt")
print("weights", export(model, path))
served = network()
served.load_state_dict(torch.load(path)["weights"], strict=False)
served.eval()
with torch.no_grad():
    print(f"served accuracy {(served(x).argmax(1) == y).float().mean().item():.2f}")
