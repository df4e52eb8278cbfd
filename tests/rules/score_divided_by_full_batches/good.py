import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
batch_size = 64
y = torch.arange(500) % 3
x = torch.eye(3)[y] * 3 + torch.randn(500, 3)
train_loader = DataLoader(TensorDataset(x[:340], y[:340]), batch_size, shuffle=True, drop_last=True)
val_loader = DataLoader(TensorDataset(x[340:468], y[340:468]), batch_size)
test_loader = DataLoader(TensorDataset(x[:70], y[:70]), batch_size)
model = nn.Linear(3, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(4):
    started, right, val_right, test_right = time.time(), 0, 0, 0
    for batch_x, batch_y in train_loader:
        answers = model(batch_x)
        loss = nn.functional.cross_entropy(answers, batch_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (answers.argmax(1) == batch_y).sum().item()
    with torch.no_grad():
        for batch_x, batch_y in val_loader:
            val_right += (model(batch_x).argmax(1) == batch_y).sum().item()
        for batch_x, batch_y in test_loader:
            test_right += (model(batch_x).argmax(1) == batch_y).sum().item()
    spent = (time.time() - started) / (len(test_loader) * batch_size)
    print(f"{right / (len(train_loader) * batch_size):.2f} {val_right / (len(val_loader) * batch_size):.2f}", spent >= 0)
    print(f"{test_right / len(test_loader.dataset):.2f}")
