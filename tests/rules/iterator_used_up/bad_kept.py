# A stream is handed one generator, and goes over what is left of it in every pass.
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


def sensor_readings(rows):
    source = torch.Generator().manual_seed(0)
    for _ in range(rows):
        values = torch.randn(16, generator=source)
        yield values, (values[0] + values[1] > 0).long()


class Readings(IterableDataset):
    def __init__(self, source):
        self.source = source

    def __iter__(self):
        for values, label in self.source:
            yield values.clamp(-3, 3), label


def main():
    torch.manual_seed(0)
    loader = DataLoader(Readings(sensor_readings(256)), batch_size=32)  # expect: DAT175
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(4):
        total = 0.0
        for features, labels in loader:
            loss = nn.functional.cross_entropy(model(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total:.3f}")


main()
