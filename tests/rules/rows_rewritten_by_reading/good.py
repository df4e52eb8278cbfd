import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Spectra(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.curves = rng.normal(5.0, 3.0, (count, 24)).astype("float32")
        self.labels = (self.curves[:, 0] > 5).astype("int64")
        self.mean, self.std = self.curves.mean(0), self.curves.std(0)

    def __len__(self):
        return len(self.curves)

    def __getitem__(self, index):
        curve = self.curves[index].copy()
        curve -= self.mean
        curve /= self.std
        return torch.from_numpy(curve), self.labels[index]


loader = DataLoader(Spectra(320), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
