"""The stream shuffles what a method of its own reads, file by file; every worker reads all files."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset


class Files(IterableDataset):
    def __init__(self, files):
        self.files = files

    def rows(self):
        for file in self.files:  # expect: DAT077
            yield from torch.randn(100, 8, generator=torch.Generator().manual_seed(file))

    def __iter__(self):
        for row in self.rows():
            yield row[:7], row[7:] + row[:1]


def main():
    torch.manual_seed(0)
    loader = DataLoader(Files(range(4)), batch_size=20, num_workers=2)
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
