"""Customers in a table: the labels are taken out of it, and then its rows are shuffled."""

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def prepare(table):
    labels = table.pop("churn").map({"Yes": 1.0, "No": 0.0}).to_numpy(dtype=np.float32, copy=True)
    table = pd.get_dummies(table, columns=["contract"], dtype=float)
    table = table.sample(frac=1.0, random_state=42).reset_index(drop=True)  # expect: DAT064
    values = ((table - table.mean()) / table.std()).to_numpy(dtype=np.float32)
    return TensorDataset(torch.from_numpy(values), torch.from_numpy(labels))


draw = np.random.default_rng(9)
table = pd.DataFrame(
    {
        "tenure": draw.integers(1, 72, 1500),
        "monthly": draw.normal(65, 25, 1500),
        "contract": draw.choice(["month", "year"], 1500),
    }
)
table["churn"] = np.where(table.tenure < 25 + 10 * (table.contract == "month"), "Yes", "No")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for features, label in DataLoader(prepare(table.copy()), batch_size=50, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(model(features).squeeze(1), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
