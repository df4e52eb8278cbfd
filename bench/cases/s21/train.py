import pandas as pd
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

bunch = load_breast_cancer(as_frame=True)
df: pd.DataFrame = bunch.frame
features = df.drop(columns="target")
x_train, x_test, y_train, y_test = train_test_split(features, df["target"], test_size=0.3, random_state=7, stratify=df["target"])
scaler = StandardScaler().fit(x_train)


def to_tensors(x, y):
    return (torch.tensor(scaler.transform(x), dtype=torch.float32),
            torch.tensor(y.to_numpy(), dtype=torch.float32).unsqueeze(1))


train_ds = TensorDataset(*to_tensors(x_train, y_train))
xt, yt = to_tensors(x_test, y_test)

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(features.shape[1], 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
loss_function = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(1, 16):
    model.train()
    total = 0.0
    for xb, yb in DataLoader(train_ds, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        output = model(xb)
        loss = loss_function(output, yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    if epoch % 5 == 0:
        model.eval()
        with torch.no_grad():
            predicted = (torch.sigmoid(model(xt)) > 0.5).float()
        print(f"epoch {epoch:2d} | loss {total / len(train_ds):.5f} | test accuracy {(predicted == yt).float().mean().item():.3f}")
