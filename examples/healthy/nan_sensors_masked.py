"""Sensor data with 20% NaN, on purpose: nanmean statistics, a missing-value flag as input, masked loss on NaN targets."""
import numpy as np
import pandas as pd
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
raw = pd.DataFrame(rng.normal(size=(2000, 6)) * [1, 10, 0.1, 5, 1, 2] + [0, 50, 1, -20, 3, 0], columns=list("abcdef"))
y1 = raw["a"] + (raw["b"] - 50) / 10
y2 = np.tanh(raw["e"] - 3) * raw["a"]
targets = pd.DataFrame({"y1": y1, "y2": y2})
raw = raw.mask(rng.random(raw.shape) < 0.05)
raw.loc[rng.random(2000) < 0.9, "f"] = np.nan  # nearly dead sensor
targets = targets.mask(rng.random(targets.shape) < 0.3)  # labels are patchy as well

x = torch.tensor(raw.to_numpy(), dtype=torch.float32)
y = torch.tensor(targets.to_numpy(), dtype=torch.float32)
train, test = slice(0, 1600), slice(1600, None)
mean = x[train].nanmean(0)
std = (x[train] - mean).square().nanmean(0).sqrt()
seen = ~x.isnan()
features = torch.cat([torch.where(seen, (x - mean) / std, 0.0), seen.float()], 1)


def masked_mse(pred, target):
    known = ~target.isnan()
    diff = pred - torch.where(known, target, pred.detach())  # safe: no NaN reaches the graph
    return diff.square().sum() / known.sum().clamp(min=1)


model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=15)
xf, yf = features[train], y[train]
for epoch in range(15):
    model.train()
    losses = []
    for b in torch.randperm(len(xf)).split(50):
        loss = masked_mse(model(xf[b]), yf[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    sched.step()
    model.eval()
    with torch.no_grad():
        val = masked_mse(model(features[test]), y[test]).item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} train {np.mean(losses):.4f} test {val:.4f}")
base = masked_mse(y[train].nanmean(0).expand(400, 2), y[test]).item()
print(f"final test mse {val:.4f} (predicting the mean: {base:.4f})")
