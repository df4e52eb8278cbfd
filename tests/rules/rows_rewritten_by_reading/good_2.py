"""A method writes in place, but into a copy; another list of the data set is written on purpose, by the training."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Heartbeats(Dataset):
    def __init__(self, count):
        self.waves = 4 + 2 * torch.randn(count, 32)
        self.labels = (self.waves[:, :4].mean(1) > 4).long()
        self.seen_loss = torch.zeros(count, 1)

    def __len__(self):
        return len(self.waves)

    def prepare(self, wave):
        wave -= 4.0
        wave /= 2.0
        return wave

    def __getitem__(self, index):
        return self.prepare(self.waves[index].clone()), self.labels[index], index


data = Heartbeats(320)
loader = DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for x, y, index in loader:
        losses = nn.functional.cross_entropy(model(x), y, reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        data.seen_loss[index, 0] = losses.detach()
    print(f"epoch {epoch} loss {losses.mean().item():.3f}")
