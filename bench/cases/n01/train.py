import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(5)
days = pd.date_range("2021-01-01", periods=900, freq="D")
load = 40 + 8 * np.sin(2 * np.pi * np.arange(900) / 7) + 5 * np.sin(2 * np.pi * np.arange(900) / 365) + rng.normal(0, 1, 900)
df = pd.DataFrame({"load": load, "holiday": (rng.random(900) < 0.03).astype(float)}, index=days)
df["load"] -= 6 * df["holiday"]

df["dow"] = df.index.dayofweek / 6.0
for k in (1, 2, 7):
    df[f"lag_{k}"] = df["load"].shift(k)
df["roll_7"] = df["load"].shift(1).rolling(7, min_periods=1).mean()

features = ["holiday", "dow", "lag_1", "lag_2", "lag_7", "roll_7"]
cut = int(len(df) * 0.8)
train_df, test_df = df.iloc[:cut], df.iloc[cut:]
mu, sd = train_df[features].mean(), train_df[features].std()
y_mu, y_sd = train_df["load"].mean(), train_df["load"].std()


def tensors(part):
    x = ((part[features] - mu) / sd).to_numpy(dtype="float32")
    y = ((part["load"] - y_mu) / y_sd).to_numpy(dtype="float32")
    return torch.from_numpy(x), torch.from_numpy(y)


torch.manual_seed(3)
loader = DataLoader(TensorDataset(*tensors(train_df)), batch_size=32, shuffle=True)
x_test, y_test = tensors(test_df)
model = nn.Sequential(nn.Linear(len(features), 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    losses = []
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb).squeeze(-1), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        test = nn.functional.mse_loss(model(x_test).squeeze(-1), y_test)
    print(f"epoch {epoch} first {losses[0]:.4f} last {losses[-1]:.4f} test mse {test:.4f}")
