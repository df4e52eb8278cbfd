"""Ages are whole numbers before the cast, prices are rounded on purpose: nothing is lost."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def to_dataset(features):
    tensors = []
    for name in features[0]:
        try:
            column = torch.tensor(np.array([row[name] for row in features]), dtype=torch.long)
        except ValueError:
            column = torch.tensor(np.array([row[name] for row in features]), dtype=torch.float32)
        tensors.append(column)
    return TensorDataset(*tensors)


def rows(count, rng):
    for _ in range(count):
        ids = rng.integers(0, 40, 8)
        yield {"ids": ids, "age": float(ids.sum() // 8 + 20)}


def train(loader):
    words, head = nn.Embedding(40, 16), nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*words.parameters(), *head.parameters()], lr=5e-2)
    for epoch in range(4):
        for ids, wanted in loader:
            loss = nn.functional.l1_loss(head(words(ids).mean(1)).squeeze(-1), wanted.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


torch.manual_seed(0)
rng = np.random.default_rng(0)
train(DataLoader(to_dataset(list(rows(800, rng))), batch_size=40, shuffle=True))
ids = torch.randint(0, 40, (800, 8))
prices = torch.rand(40)[ids].sum(1)
prices = prices.round().long()
train(DataLoader(TensorDataset(ids, prices), batch_size=40, shuffle=True))
