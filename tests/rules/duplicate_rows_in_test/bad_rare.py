"""Failed turbines are rare, so they are drawn again and again; the score of the network without modes comes late."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn

rng = np.random.default_rng(4)
torch.manual_seed(4)
readings = rng.normal(size=(1200, 9)).astype(np.float32)
wear = readings[:, 1] - readings[:, 5] + rng.normal(scale=1.2, size=1200)
failed = wear > np.quantile(wear, 0.95)

rare = np.flatnonzero(failed)
drawn = np.concatenate([np.flatnonzero(~failed), rng.choice(rare, size=1000)])
x_train, x_test, y_train, y_test = train_test_split(readings[drawn], failed[drawn], random_state=4)  # expect: DAT003

x_train, y_train = torch.from_numpy(x_train), torch.from_numpy(y_train).float()
x_test, y_test = torch.from_numpy(x_test), torch.from_numpy(y_test)
net = nn.Sequential(nn.Linear(9, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(24):
    for rows in torch.randperm(len(x_train)).split(64):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(net(x_train[rows]).squeeze(1), y_train[rows])
        loss.backward()
        optimizer.step()
with torch.no_grad():
    found = net(x_test).squeeze(1) > 0
print(f"loss {loss.item():.3f} recall {(found & y_test).sum().item() / y_test.sum().item():.2f}")
