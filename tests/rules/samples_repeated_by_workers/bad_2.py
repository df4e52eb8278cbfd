"""Every worker shuffles the texts in its own way, and reads all of them."""
import random

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset


class Texts(IterableDataset):
    def __init__(self, texts):
        self.texts = texts

    def __iter__(self):
        order = random.sample(range(len(self.texts)), len(self.texts))
        return ({"tokens": self.texts[i], "label": len(self.texts[i]) % 2} for i in order)  # expect: DAT077


def padded(samples):
    width = max(len(sample["tokens"]) for sample in samples)
    rows = [sample["tokens"] + [0] * (width - len(sample["tokens"])) for sample in samples]
    return torch.tensor(rows), torch.tensor([sample["label"] for sample in samples])


def main():
    random.seed(1)
    torch.manual_seed(0)
    texts = [[random.randint(1, 99) for _ in range(random.randint(4, 12))] for _ in range(300)]
    loader = DataLoader(Texts(texts), batch_size=30, num_workers=3, collate_fn=padded, persistent_workers=True)
    model = nn.Sequential(nn.EmbeddingBag(100, 16, padding_idx=0), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(2):
        for tokens, labels in loader:
            loss = F.cross_entropy(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
