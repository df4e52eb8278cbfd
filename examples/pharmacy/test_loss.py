"""8503: the test loss equals the train loss."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

FAULTS = ["none", "same-object", "same-storage", "switch", "overlap"]


class Tablets(Dataset):
    """Spectra of tablets and whether they are genuine; `train()` and `test()` choose the part that is read."""

    def __init__(self, spectra, genuine):
        self.spectra, self.genuine = spectra, genuine
        self.part = range(0, 600)

    def train(self):
        self.part = range(0, 600)
        return self

    def test(self):
        self.part = range(600, 800)
        return self

    def __len__(self):
        return len(self.part)

    def __getitem__(self, index):
        return self.spectra[self.part[index]], self.genuine[self.part[index]]


def parts(fault, spectra, genuine):
    """The train and the test set."""
    train_set = TensorDataset(spectra[:600], genuine[:600])
    if fault == "same-object":
        return train_set, train_set
    if fault == "same-storage":
        return train_set, TensorDataset(spectra[:600], genuine[:600])
    if fault == "switch":
        return Tablets(spectra, genuine), Tablets(spectra, genuine)
    if fault == "overlap":
        return train_set, TensorDataset(spectra[520:720].clone(), genuine[520:720].clone())
    return train_set, TensorDataset(spectra[600:], genuine[600:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=FAULTS, default="none")
    options = parser.parse_args()
    torch.manual_seed(0)
    spectra = torch.randn(800, 30)
    genuine = (spectra[:, :3].sum(dim=1) + 0.5 * torch.randn(800) > 0).long()
    train_set, test_set = parts(options.fault, spectra, genuine)
    train_loader = DataLoader(train_set, batch_size=60, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=100)
    model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            held_out = sum(nn.functional.cross_entropy(model(x), y).item() for x, y in test_loader) / len(test_loader)
        print(f"epoch {epoch}: loss {loss.item():.4f}, test loss {held_out:.4f}")


if __name__ == "__main__":
    main()
