# A data set that is its own iterator and never goes back to its beginning.
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Windows(IterableDataset):
    def __init__(self, series, width):
        self.series, self.width, self.at = series, width, 0

    def __iter__(self):  # expect: DAT175
        return self

    def __next__(self):
        if self.at + self.width >= len(self.series):
            raise StopIteration
        window = self.series[self.at : self.at + self.width]
        self.at += 1
        return window, self.series[self.at + self.width - 1]


torch.manual_seed(0)
series = torch.sin(torch.arange(300.0) / 9) + 0.1 * torch.randn(300)
loader = DataLoader(Windows(series, 12), batch_size=16)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    count, total = 0, 0.0
    for window, following in loader:
        loss = nn.functional.mse_loss(model(window).squeeze(1), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count, total = count + 1, total + loss.item()
    print(f"epoch {epoch} loss {total / max(count, 1):.3f}")
