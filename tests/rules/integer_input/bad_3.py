import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, count):
        codes = torch.arange(count * 2).reshape(count, 2) % 3
        self.kinds = torch.as_tensor(codes).float()  # expect: ERR009
        self.y = torch.linspace(0, 1, count)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.kinds[i], self.y[i]


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(3, 4) for _ in range(2))
        self.head = nn.Linear(8, 1)

    def forward(self, kinds):
        parts = [table(kinds[:, i]) for i, table in enumerate(self.tables)]
        return self.head(torch.cat(parts, 1)).squeeze(-1)


torch.manual_seed(0)
model = Tabular()
for kinds, y in DataLoader(Rows(24), batch_size=8):
    nn.functional.mse_loss(model(kinds), y).backward()
