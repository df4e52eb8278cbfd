import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Windows(Dataset):
    def __init__(self, series, window=48, stride=4):
        self.series = series
        self.window = window
        self.starts = list(range(0, len(series) - 1, stride))

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, i):
        start = self.starts[i]
        x = self.series[start : start + self.window]  # expect: ERR030
        return x, self.series[min(start + self.window, len(self.series) - 1), 0]


model = nn.GRU(3, 8, batch_first=True)
head = nn.Linear(8, 1)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-3)
for x, y in DataLoader(Windows(torch.randn(240, 3)), batch_size=16):
    out, _ = model(x)
    loss = nn.functional.mse_loss(head(out[:, -1]).squeeze(-1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
