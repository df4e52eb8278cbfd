import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def load(rows):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 6)).astype("float32")
    likeness = np.clip(2.5 + x[:, 0] + 0.5 * x[:, 1], 0, 5)
    likeness = likeness.astype(int)  # expect: DAT147
    return x, likeness


class Pairs(Dataset):
    def __init__(self, rows):
        self.x, self.likeness = load(rows)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, row):
        return torch.from_numpy(self.x[row]), self.likeness[row]


torch.manual_seed(0)
loader = DataLoader(Pairs(1000), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for x, y in loader:
        loss = nn.functional.l1_loss(model(x)[:, 0], y.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
