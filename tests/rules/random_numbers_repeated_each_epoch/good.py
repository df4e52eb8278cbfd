"""The same with a shuffled order: the numbers meet other samples in each epoch."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self):
        data = load_digits()
        self.images = (data.data[:400] / 16.0).astype("float32")
        self.labels = data.target[:400]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        noisy = self.images[index] + np.random.normal(0, 0.2, 64).astype("float32")
        return torch.from_numpy(noisy), int(self.labels[index])


def seed_worker(worker_id):
    np.random.seed(worker_id)


torch.manual_seed(0)
loader = DataLoader(Digits(), batch_size=40, shuffle=True, num_workers=2, worker_init_fn=seed_worker)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for images, labels in loader:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
