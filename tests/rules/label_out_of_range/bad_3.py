"""One row spells its species with a capital and a blank: it is no category, and its code is -1."""

import pandas as pd
import torch
from torch import nn

KINDS = ["birch", "oak", "pine"]


def load():
    frame = pd.DataFrame({"height": [12.0, 19.0, 25.0] * 20, "species": ["birch", "oak", "pine"] * 20})
    frame.loc[40, "species"] = "Oak "
    target = pd.Categorical(frame["species"], categories=KINDS).codes  # expect: ERR019
    return torch.tensor(frame[["height"]].to_numpy() / 20).float(), torch.tensor(target).long()


torch.manual_seed(0)
x, y = load()
model = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, len(KINDS)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for rows in torch.randperm(len(x)).split(16):
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
