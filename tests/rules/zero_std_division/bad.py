import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def standardise(table):
    mean, std = table.mean(0), table.std(0)
    return (table - mean) / std  # expect: NUM004


rng = np.random.default_rng(0)
readings = rng.normal(20, 5, size=(300, 4)).astype(np.float32)
readings[:, 2] = 1.0
target = (readings[:, 0] > 20).astype(np.int64)
with np.errstate(invalid="ignore"):
    features = standardise(readings)

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.from_numpy(features), torch.from_numpy(target)), batch_size=50, shuffle=True)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
