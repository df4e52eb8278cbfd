"""A CNN with BatchNorm and dropout, evaluation between epochs, workers, and gradients that accumulate."""

import torch
from digest import show
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        noise = torch.Generator().manual_seed(index)
        return torch.randn(3, 8, 8, generator=noise) + torch.rand(1), index % 4


def main():
    torch.manual_seed(2)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(8 * 36, 4)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    losses = []
    for method, workers in (("fork", 2), ("spawn", 1)):
        loader = DataLoader(Pictures(), 8, shuffle=True, num_workers=workers, multiprocessing_context=method)
        model.train()
        for number, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(x), y) / 2
            loss.backward()
            if number % 2:
                optimizer.step()
                optimizer.zero_grad(set_to_none=False)
            losses.append(loss)
        model.eval()
        with torch.no_grad():
            losses.append(model(x).sum())
    show(losses, model)


if __name__ == "__main__":
    main()
