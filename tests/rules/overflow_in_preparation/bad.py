import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(6)
energy = rng.normal(0, 60, size=(100, 3)).astype(np.float32)
with np.errstate(over="ignore"):
    weight = np.exp(energy)  # expect: DAT038
x = torch.from_numpy(weight)
y = torch.randint(0, 2, (100,), generator=torch.Generator().manual_seed(0))

torch.manual_seed(40)
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for rows in torch.arange(100).split(25):
    loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
