import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series, length=24):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length - 1

    def __getitem__(self, i):
        past = self.series[i : i + self.length]
        following = self.series[i + self.length]
        return past, following


torch.manual_seed(0)
time = torch.arange(500.0)
series = torch.sin(time / 4) + 0.3 * torch.randn(500)
loader = DataLoader(Windows(series), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for past, following in loader:
        loss = nn.functional.mse_loss(model(past).squeeze(1), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
