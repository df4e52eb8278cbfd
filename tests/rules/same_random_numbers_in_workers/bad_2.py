"""Every worker is seeded, for the sake of reproducibility, with the same number."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        noise = np.random.normal(0, 0.1, size=16).astype("float32")
        return self.x[index] + torch.from_numpy(noise), self.y[index]


def start_worker(worker_id):
    torch.set_num_threads(1)
    np.random.seed(1234)  # expect: DAT054


torch.manual_seed(0)
x = torch.randn(400, 16)
y = (x[:, 0] > x[:, 1]).long()
loader = DataLoader(Rows(x, y), batch_size=25, shuffle=True, num_workers=3, worker_init_fn=start_worker)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for inputs, labels in loader:
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
