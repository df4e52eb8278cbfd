import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(1)
weather = pd.DataFrame({"station": rng.integers(0, 9, 400), "temp": rng.normal(12, 4, 400), "rain": rng.gamma(2, 2, 400)})
weather.loc[weather["station"] == 5, "temp"] = 4.5  # its sensor is frozen
weather.to_parquet("weather.parquet", index=False)

table = pd.read_parquet("weather.parquet")
by_station = table.groupby("station")["temp"]
table["z"] = (table["temp"] - by_station.transform("mean")) / by_station.transform("std")  # expect: NUM005
x = torch.tensor(table[["z", "rain"]].to_numpy(), dtype=torch.float32)
y = torch.randn(len(x))

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for batch, target in zip(x.split(50), y.split(50), strict=True):
    loss = nn.functional.mse_loss(net(batch)[:, 0], target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
