import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(rows=600, width=8):
    rng = np.random.default_rng(42)
    x = rng.normal(size=(rows, width)).astype(np.float32)
    return x, (x @ rng.normal(size=width)).astype(np.float32)


def loaders(batch_size=32):
    x, y = make_data()
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)
    train = TensorDataset(torch.as_tensor(x_train), torch.as_tensor(y_train))
    test = TensorDataset(torch.as_tensor(x_test), torch.as_tensor(y_test))
    return DataLoader(train, batch_size, shuffle=True), DataLoader(test, batch_size)


torch.manual_seed(0)
train, test = loaders()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for rows, target in train:
        loss = nn.functional.mse_loss(model(rows).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        wrong = sum(nn.functional.mse_loss(model(rows).squeeze(1), target).item() for rows, target in test)
    model.train()
    print(epoch, wrong / len(test))
