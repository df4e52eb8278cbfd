"""Descriptors are brought to length 1 in single precision, of what the pooling sums up in half precision."""
import torch
from torch import nn

torch.manual_seed(0)
kinds = torch.randn(6, 3, 12, 12)
y = torch.randint(0, 6, (240,))
x = kinds[y] + 0.5 * torch.randn(240, 3, 12, 12)


class Descriptor(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(3, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU())
        self.classes = nn.Linear(48, 6)

    def forward(self, x):
        summed = self.look(x).sum(dim=(2, 3)) * 10
        summed = summed.float()
        length = torch.sqrt((summed * summed).sum(1, keepdim=True))
        return self.classes(summed / length)


model = Descriptor()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(240).split(24):
        with torch.autocast("cpu", dtype=torch.float16):
            scores = model(x[rows])
        loss = nn.functional.cross_entropy(scores.float(), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
