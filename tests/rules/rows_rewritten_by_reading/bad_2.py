"""The row is handed on twice before it is written into; the data set inherits its `__getitem__`."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


def to_unit(signal, level):
    signal.sub_(level)  # expect: DAT062
    return signal.div_(signal.abs().max() + 2.0)


class Signals(Dataset):
    def __len__(self):
        return len(self.waves)

    def prepare(self, wave):
        return to_unit(signal=wave, level=self.level)

    def __getitem__(self, index):
        return self.prepare(self.waves[index]), self.labels[index]


class Heartbeats(Signals):
    def __init__(self, count):
        self.waves = 4 + 2 * torch.randn(count, 32)
        self.labels = (self.waves[:, :4].mean(1) > 4).long()
        self.level = 4.0


loader = DataLoader(Heartbeats(320), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
