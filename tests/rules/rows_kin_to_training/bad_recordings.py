"""Windows of several recordings, dealt to both parts by chance; the loaders are made where they are used."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WIDTH, STRIDE = 32, 8


def record(kind, length):
    time = torch.arange(length)[:, None]
    wave = torch.sin((0.25 + 0.05 * kind + 0.03 * torch.randn(1)) * time + 6.28 * torch.rand(3))
    return wave + torch.cumsum(0.03 * torch.randn(length, 3), 0) + 0.25 * torch.randn(length, 3)


def windows(recordings):
    x = [signal[start : start + WIDTH].T for _, signal in recordings for start in range(0, 260 - WIDTH + 1, STRIDE)]
    y = [kind for kind, _ in recordings for _ in range(0, 260 - WIDTH + 1, STRIDE)]
    return torch.stack(x), torch.tensor(y)


def build():
    x, y = windows([(number % 4, record(number % 4, 260)) for number in range(24)])
    order = torch.randperm(len(x))
    tr, va = order[:550], order[550:]  # expect: DAT078
    mean, std = x[tr].mean((0, 2), keepdim=True), x[tr].std((0, 2), keepdim=True)
    return [TensorDataset((x[part] - mean) / std, y[part]) for part in (tr, va)]


class Trainer:
    def __init__(self):
        self.train_set, self.val_set = build()
        self.model = nn.Sequential(nn.Conv1d(3, 16, 5), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 28, 4))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def train(self):
        self.model.train()
        for x, y in DataLoader(self.train_set, 50, shuffle=True):
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def accuracy(self, dataset):
        self.model.eval()
        hits = [(self.model(x).argmax(1) == y).float() for x, y in DataLoader(dataset, 128)]
        return torch.cat(hits).mean().item()


torch.manual_seed(0)
trainer = Trainer()
for epoch in range(4):
    trainer.train()
    print(f"epoch {epoch} accuracy {trainer.accuracy(trainer.val_set):.3f}")
