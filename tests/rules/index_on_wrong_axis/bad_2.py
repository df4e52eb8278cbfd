import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Birds(Dataset):
    def __init__(self, rows):
        names = sorted({name for _, name in rows})
        self.number = {name: i for i, name in enumerate(names, start=1)}  # expect: ERR006
        self.classes = len(names)
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        values, name = self.rows[i]
        return torch.tensor(values), self.number[name]


class FocalLoss(nn.Module):
    def forward(self, logits, target):
        chosen = torch.log_softmax(logits, dim=1).gather(1, target.unsqueeze(1)).squeeze(1)
        return (-((1 - chosen.exp()) ** 2) * chosen).mean()


torch.manual_seed(0)
birds = Birds([([float(i), float(i % 3)], ("gull", "owl", "wren")[i % 3]) for i in range(12)])
model = nn.Linear(2, birds.classes)
criterion = FocalLoss()
for x, y in DataLoader(birds, batch_size=12):
    criterion(model(x), y).backward()
