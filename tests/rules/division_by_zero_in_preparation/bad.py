import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(5)
adverts = pd.DataFrame({"clicks": rng.integers(0, 9, 160), "shown": rng.integers(1, 99, 160)})
adverts.loc[[20, 77], "shown"] = 0
adverts["rate"] = adverts["clicks"] / adverts["shown"]  # expect: DAT035
x = torch.tensor(adverts[["rate"]].to_numpy(), dtype=torch.float32)
y = torch.tensor((adverts["clicks"] > 4).to_numpy(), dtype=torch.float32)

torch.manual_seed(37)
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for rows in torch.arange(160).split(40):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows])[:, 0], y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
