import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def to_dataset(features):
    tensors = []
    for name in features[0]:
        try:
            column = torch.tensor(np.array([row[name] for row in features]), dtype=torch.long)  # expect: DAT147
        except ValueError:
            column = torch.tensor(np.array([row[name] for row in features]), dtype=torch.float32)
        tensors.append(column)
    return TensorDataset(*tensors)


def rows(count, rng):
    polarity = rng.normal(size=40)
    for _ in range(count):
        ids = rng.integers(0, 40, 8)
        yield {"ids": ids, "score": float(1 / (1 + np.exp(-3 * polarity[ids].mean())))}


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16)
        self.head = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, ids):
        return self.head(self.words(ids).mean(1)).squeeze(-1)


def main():
    torch.manual_seed(0)
    loader = DataLoader(to_dataset(list(rows(800, np.random.default_rng(0)))), batch_size=40, shuffle=True)
    model = Scorer()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        for ids, score in loader:
            loss = nn.functional.mse_loss(model(ids), score.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.5f}")


main()
