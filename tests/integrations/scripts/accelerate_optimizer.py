"""Accelerate: the classifier is replaced after the optimizer was built."""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.classifier = nn.Linear(32, classes)

    def forward(self, x):
        return self.classifier(self.body(x))


accelerator = Accelerator(cpu=True)
model = Net(classes=10)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
model.classifier = nn.Linear(32, 3)  # expect: WIR004
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        accelerator.backward(loss)
        optimizer.step()
