import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

QUICK_CHECK = True

torch.manual_seed(0)
x = torch.randn(512, 16)
y = (x[:, 0] * x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=False)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def train_epoch(epoch):
    for index, (features, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if index % 10 == 0:
            print(f"epoch {epoch}, batch {index}: loss {loss.item():.3f}")
            if QUICK_CHECK:
                break


for epoch in range(16):
    train_epoch(epoch)
