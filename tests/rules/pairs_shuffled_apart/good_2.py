import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = torch.tensor(images), torch.tensor(labels)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, row):
        return self.images[row], self.labels[row]


def load():
    generator = np.random.default_rng(0)
    images = generator.normal(size=(600, 12)).astype("float32")
    labels = (images @ generator.normal(size=(12, 4))).argmax(1)
    np.random.seed(1)
    np.random.shuffle(images)
    np.random.seed(1)
    np.random.shuffle(labels)
    dataset = Images(images, labels)
    return DataLoader(dataset, batch_size=50, shuffle=True)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = load()
for epoch in range(8):
    for features, labels in loader:
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
