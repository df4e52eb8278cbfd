import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(3)
load = pd.DataFrame({"load": rng.normal(50, 5, 150)})
load["yesterday"] = load["load"].shift(1).fillna(50)
x = torch.tensor(load[["yesterday"]].to_numpy(), dtype=torch.float32) / 50
y = torch.tensor(load["load"].to_numpy(), dtype=torch.float32) / 50

torch.manual_seed(35)
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for xb, yb in DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True):
    loss = nn.functional.mse_loss(net(xb)[:, 0], yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
