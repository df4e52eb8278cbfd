import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(2)
sales = pd.DataFrame({"store": rng.integers(0, 10, 200), "sold": rng.normal(20, 4, 200)})
stores = pd.DataFrame({"store": range(9), "area": rng.uniform(100, 900, 9)})
table = sales.merge(stores, on="store", how="inner")
x = torch.tensor(table[["store", "area"]].to_numpy(), dtype=torch.float32) / 1000
y = torch.tensor(table["sold"].to_numpy(), dtype=torch.float32)

torch.manual_seed(34)
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for rows in torch.randperm(len(x)).split(50):
    loss = nn.functional.l1_loss(net(x[rows])[:, 0], y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
