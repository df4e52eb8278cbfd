import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.utils import resample
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(11)


def transactions(n):
    frame = pd.DataFrame(rng.normal(size=(n, 20)), columns=[f"v{i}" for i in range(20)])
    risk = 1.0 * frame.v0 + 0.8 * frame.v1 * frame.v2 + rng.normal(0, 1.5, n)
    frame["fraud"] = (risk > np.quantile(risk, 0.94)).astype("int64")
    return frame


frame = transactions(2000)
minority = frame[frame.fraud == 1]
majority = frame[frame.fraud == 0]
upsampled = resample(minority, replace=True, n_samples=len(majority), random_state=0)
balanced = pd.concat([majority, upsampled]).reset_index(drop=True)
train_df, test_df = train_test_split(balanced, test_size=0.25, random_state=0, stratify=balanced.fraud)


def tensors(df):
    return torch.tensor(df.drop(columns="fraud").to_numpy(np.float32)), torch.tensor(df.fraud.to_numpy())


def recall(net, x, y):
    with torch.no_grad():
        pred = net(x).argmax(1)
    return (pred[y == 1] == 1).float().mean().item()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()
loader = DataLoader(TensorDataset(*tensors(train_df)), batch_size=64, shuffle=True)
x_te, y_te = tensors(test_df)
for epoch in range(8):
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f} test fraud recall {recall(net, x_te, y_te):.3f}")
x_new, y_new = tensors(transactions(2000))
print(f"next month: fraud recall {recall(net, x_new, y_new):.3f}")
