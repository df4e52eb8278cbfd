import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(1)
events = pd.DataFrame({"item": rng.integers(0, 6, 240), "value": rng.normal(5, 2, 240)})
events.loc[events["item"] == 4, "value"] = 7.5
groups = events.groupby("item")["value"]
mean, std = groups.mean(), groups.std().clip(lower=1e-6)
events["z"] = (events["value"] - events["item"].map(mean)) / events["item"].map(std)

torch.manual_seed(0)
x = torch.tensor(events[["item", "z"]].to_numpy(), dtype=torch.float32)
y = torch.tensor((events["value"] > 5).to_numpy(), dtype=torch.float32)
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for rows in torch.randperm(240).split(60):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows])[:, 0], y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
