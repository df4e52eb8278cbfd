import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
torch.manual_seed(0)
table = pd.DataFrame(rng.normal(size=(3000, 6)), columns=[f"x{n}" for n in range(6)])
table["kind"] = rng.choice(4, 3000, p=[0.05, 0.15, 0.6, 0.2])
table["x0"] += table["kind"]


def weights_of(labels):
    counts = labels.value_counts().sort_index()
    return torch.tensor(counts.sum() / (len(counts) * counts.values), dtype=torch.float32)


x = torch.tensor(table.drop(columns="kind").values, dtype=torch.float32)
loader = DataLoader(TensorDataset(x, torch.tensor(table["kind"].values)), batch_size=100, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss(weight=weights_of(table["kind"]))
for epoch in range(2):
    for features, kinds in loader:
        loss = criterion(model(features), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
