import pandas as pd
import torch
from torch import nn

lab = pd.DataFrame({"value": [str(0.5 + i % 7) for i in range(120)], "ill": [i % 2 for i in range(120)]})
lab.loc[[9, 60], "value"] = "<0.5"
lab["value"] = pd.to_numeric(lab["value"].str.lstrip("<"))
x = torch.tensor(lab[["value"]].to_numpy(), dtype=torch.float32)
y = torch.tensor(lab["ill"].to_numpy(), dtype=torch.float32)

torch.manual_seed(39)
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for rows in torch.arange(120).split(40):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows])[:, 0], y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
