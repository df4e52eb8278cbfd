import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(0)
table = pd.DataFrame(
    {"area": np.linspace(40, 160, 60), "rooms": np.arange(60) % 5 + 1.0, "town": ["Bonn", "Jena", "Ulm"] * 20}
)
price = torch.tensor((table["area"] * 3).to_numpy(), dtype=torch.float32)
x = torch.tensor(table.values, dtype=torch.float32)  # expect: ERR277
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
loss = nn.functional.mse_loss(model(x).squeeze(1), price)
loss.backward()
optimizer.step()
