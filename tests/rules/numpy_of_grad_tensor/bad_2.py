import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
history = []
for step in range(10):
    x = torch.randn(16, 3)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss)  # expect: ERR017
print("mean", np.mean(history))
