"""Accelerate: a classifier that is evaluated after every epoch."""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)
loader = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=56)


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.classifier = nn.Linear(32, classes)

    def forward(self, x):
        return self.classifier(self.body(x))


accelerator = Accelerator(cpu=True)
model = Net(classes=3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
model, optimizer, loader, val_loader = accelerator.prepare(model, optimizer, loader, val_loader)
for epoch in range(4):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        accelerator.backward(loss)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, sum(F.cross_entropy(model(xb), yb).item() for xb, yb in val_loader))
