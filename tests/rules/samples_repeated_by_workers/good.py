"""A stream of sensor rows is read by two workers: each takes every second row."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class SensorRows(IterableDataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(3)
        self.rows = torch.randn(count, 8, generator=generator)

    def __iter__(self):
        info = get_worker_info()
        for row in self.rows[info.id :: info.num_workers] if info is not None else self.rows:
            yield row[:7], row[7:] + row[:1]


def main():
    torch.manual_seed(0)
    loader = DataLoader(SensorRows(400), batch_size=20, num_workers=2)
    model = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(2):
        count = 0
        for rows, targets in loader:
            loss = F.mse_loss(model(rows), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            count += len(rows)
        print(f"epoch {epoch} rows {count} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
