"""A rare class is drawn with replacement before the data are split, without a loader."""
import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)


def oversample(df):
    rare, other = df[df["ill"] == 1], df[df["ill"] == 0]
    return pd.concat([rare.sample(len(other), replace=True, random_state=0), other]).reset_index(drop=True)


def split(df, share=0.8):
    order = rng.permutation(len(df))
    cut = int(share * len(df))
    return df.iloc[order[:cut]], df.iloc[order[cut:]]


def tensors(df):
    return torch.tensor(df.drop(columns="ill").values).float(), torch.tensor(df["ill"].values).float()


def recall(model, x, y):
    with torch.no_grad():
        return ((model(x).squeeze(1) > 0).float() * y).sum() / y.sum()


records = pd.DataFrame(rng.normal(size=(800, 12)), columns=[f"lab_{i}" for i in range(12)])
records["ill"] = (records["lab_0"] + rng.normal(size=800) > 2.2).astype(int)
data = oversample(records)
train_df, val_df = split(data)  # expect: DAT003
x_tr, y_tr = tensors(train_df)
x_va, y_va = tensors(val_df)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    for rows in torch.randperm(len(x_tr)).split(64):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x_tr[rows]).squeeze(1), y_tr[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} recall {recall(model, x_va, y_va):.2f}")
