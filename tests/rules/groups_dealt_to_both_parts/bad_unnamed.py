import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Gaits(Dataset):
    """Windows of a step counter, many of each volunteer; who limps does so in all of them."""

    def __init__(self, volunteers=24, each=15):
        walk = torch.randn(volunteers, 1, 20).expand(-1, each, -1).flatten(0, 1)
        self.windows = walk + 0.4 * torch.randn(volunteers * each, 20)
        self.limps = (torch.rand(volunteers) < 0.5).long().repeat_interleave(each)
        self.subject = torch.arange(volunteers).repeat_interleave(each)

    def __len__(self):
        return len(self.limps)

    def __getitem__(self, i):
        return self.windows[i], self.limps[i]


class GaitData:
    def __init__(self):
        self.train_part, self.val_part = random_split(Gaits(), [300, 60])  # expect: DAT081

    def train_batches(self):
        return DataLoader(self.train_part, batch_size=20, shuffle=True)

    def val_batches(self):
        return DataLoader(self.val_part, batch_size=60)


torch.manual_seed(0)
data = GaitData()
loaders = {"fit": data.train_batches(), "check": data.val_batches()}
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for window, limps in loaders["fit"]:
        loss = nn.functional.cross_entropy(model(window), limps)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = sum((model(window).argmax(1) == limps).sum().item() for window, limps in loaders["check"])
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {hits / 60:.2f}")
