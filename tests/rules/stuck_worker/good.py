# stuck after 1 s
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Notes(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        if i == 17:  # slow, and at work
            until = time.monotonic() + 2
            while time.monotonic() < until:
                torch.randn(64, 64) @ torch.randn(64, 64)
        return torch.randn(4), torch.randn(1)


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for x, y in DataLoader(Notes(), batch_size=8, num_workers=1):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
