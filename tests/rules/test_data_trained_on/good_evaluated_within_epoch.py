"""The validation runs before some of the training steps, in the middle of the epoch, and stops early."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def readings(count):
    x = torch.randn(count, 6)
    return TensorDataset(x, (x[:, :2].sum(1) > 0).long())


class Fit:
    def __init__(self, model, train_loader, val_loader):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.peeks = iter(val_loader)

    def validate(self, most=4):
        self.model.eval()
        hits = count = 0
        for batch, (x, y) in enumerate(self.val_loader):
            hits += (self.model(x).argmax(1) == y).sum().item()
            count += len(y)
            if batch + 1 == most:
                break
        self.model.train()
        return hits / count

    @torch.no_grad()
    def peek(self):
        try:
            x, y = next(self.peeks)
        except StopIteration:
            self.peeks = iter(self.val_loader)
            x, y = next(self.peeks)
        return nn.functional.cross_entropy(self.model(x), y).item()

    def epoch(self):
        for number, (x, y) in enumerate(self.train_loader):
            accuracy = self.validate() if number % 3 == 0 else None
            if number % 6 == 1:
                print(f"{number}: one validation batch {self.peek():.3f}")
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if accuracy is not None:
                print(f"{number}: loss {loss.item():.3f}, validation {accuracy:.2f}")


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.Dropout(0.1), nn.ReLU(), nn.Linear(24, 2))
fit = Fit(model, DataLoader(readings(360), batch_size=20, shuffle=True), DataLoader(readings(160), batch_size=20))
for _ in range(3):
    fit.epoch()
