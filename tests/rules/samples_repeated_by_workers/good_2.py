"""Streams whose workers do not repeat each other: shared out when they start, drawn at random, or read by one."""
import itertools

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Rows(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


class Drawn(IterableDataset):
    """No end: every worker draws its own rows."""

    def __iter__(self):
        while True:
            yield torch.randn(8)


class FewKinds(IterableDataset):
    """Records of few kinds come again and again by themselves."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        for number in range(self.count):
            yield F.one_hot(torch.tensor(number % 4), 8).float()


def share_out(worker):
    info = get_worker_info()
    info.dataset.rows = info.dataset.rows[worker :: info.num_workers]


def main():
    torch.manual_seed(0)
    rows = torch.randn(400, 8)
    loaders = [
        DataLoader(Rows(rows), batch_size=20, num_workers=2, worker_init_fn=share_out),
        DataLoader(Rows(rows), batch_size=20, num_workers=1),
        DataLoader(Drawn(), batch_size=20, num_workers=2),
        DataLoader(FewKinds(400), batch_size=20, num_workers=2),
    ]
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for loader in loaders:
        for batch in itertools.islice(loader, 15):
            loss = F.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
