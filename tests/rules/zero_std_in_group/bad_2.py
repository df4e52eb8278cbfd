import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(3)
readings = pd.DataFrame({"sensor": rng.integers(10, 16, 240), "level": rng.normal(5, 2, 240)})
readings.loc[readings["sensor"] == 13, "level"] = 2.5
readings.to_csv("readings.csv", index=False)


class Scaler:
    def fit(self, table):
        by_sensor = table.groupby("sensor")["level"]
        self.mean, self.std = by_sensor.mean(), by_sensor.std()
        return self

    def scale(self, table):
        sensor = table["sensor"]
        table["z"] = (table["level"] - sensor.map(self.mean)) / sensor.map(self.std)  # expect: NUM005
        return table


table = pd.read_csv("readings.csv")
table = Scaler().fit(table).scale(table)
torch.manual_seed(0)
x = torch.tensor(table[["sensor", "z"]].to_numpy(), dtype=torch.float32)
y = torch.tensor((table["level"] > 5).to_numpy(), dtype=torch.float32)
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for rows in torch.randperm(240).split(60):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows])[:, 0], y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
