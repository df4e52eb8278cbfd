import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
labs = pd.DataFrame({
    "itemid": rng.integers(50800, 50830, 500),
    "unit": rng.choice(["mg/dL ", "mmol/L "], 500),
    "value": rng.normal(5.0, 1.0, 500),
})
labs = labs[labs.value > 0]
sodium = labs[(labs["itemid"] < 50820) & (labs["unit"] == "mmol/L") & (labs["value"] < 9)]  # expect: ERR038
x = torch.tensor(sodium["value"].to_numpy(), dtype=torch.float32)
x = (x - x.mean()) / x.std()
low = x.min()
net = nn.Linear(1, 1)
print(net(x[:, None]).mean() - low)
