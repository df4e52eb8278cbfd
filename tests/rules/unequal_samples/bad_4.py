import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, values, history, ahead):
        self.values, self.history, self.ahead = values, history, ahead

    def __len__(self):
        return len(self.values) - self.history  # expect: ERR030

    def __getitem__(self, i):
        middle = i + self.history
        return self.values[i:middle], self.values[middle : middle + self.ahead]


torch.manual_seed(0)
series = torch.sin(torch.arange(300) / 5)
loader = DataLoader(Windows(series, 24, 6), batch_size=32)
model = nn.Linear(24, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for past, future in loader:
    loss = nn.functional.mse_loss(model(past), future)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
