import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

KINDS = ["finch", "robin", "crow", "gull"]
CENTERS = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)) * 2


class Birds(Dataset):
    def __init__(self, samples, seed):
        names = random.Random(seed).choices(KINDS, k=samples)
        self.x = CENTERS[[KINDS.index(name) for name in names]] + torch.randn(samples, 8)
        self.kinds = sorted(set(names))
        self.notes = [f"{name} {i % 7}" for i, name in enumerate(names)]
        self.y = [self.kinds.index(name) for name in names]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


torch.manual_seed(0)
train_loader = DataLoader(Birds(320, seed=1), batch_size=32, shuffle=True)
val_loader = DataLoader(Birds(96, seed=3), batch_size=32)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = torch.cat([model(x).argmax(1) == y for x, y in val_loader])
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right.float().mean():.3f}")
