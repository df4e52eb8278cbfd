"""A validation set with the same noise in every epoch, on purpose, and a training set whose workers are told apart."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        noise = self.rng.normal(0, 0.1, size=16).astype("float32")
        return self.x[index] + torch.from_numpy(noise), self.y[index]


def tell_apart(worker_id):
    info = torch.utils.data.get_worker_info()
    info.dataset.rng = np.random.default_rng(info.seed)


torch.manual_seed(0)
x = torch.randn(500, 16)
y = (x[:, 0] > x[:, 1]).long()
train = DataLoader(Noisy(x[:400], y[:400]), batch_size=25, shuffle=True, num_workers=2, worker_init_fn=tell_apart)
valid = DataLoader(Noisy(x[400:], y[400:]), batch_size=50, num_workers=2)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    model.train()
    for inputs, labels in train:
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(inputs).argmax(1) == labels).sum().item() for inputs, labels in valid)
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {hits / 100:.2f}")
