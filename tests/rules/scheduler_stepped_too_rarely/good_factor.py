import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WarmCosine:
    def __init__(self, warm, total):
        self.warm, self.total = warm, total

    def __call__(self, step):
        if step < self.warm:
            return (step + 1) / self.warm
        return 0.5 * (1 + math.cos(math.pi * min(1.0, self.past(step))))

    def past(self, step):
        return (step - self.warm) / (self.total - self.warm)


torch.manual_seed(0)
x = torch.randn(480, 12)
loader = DataLoader(TensorDataset(x, (x @ torch.randn(12, 3)).argmax(1)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, WarmCosine(2, 6))
for epoch in range(6):
    for features, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(epoch, loss.item())
