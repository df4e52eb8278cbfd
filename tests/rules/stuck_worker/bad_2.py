# stuck after 1 s
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Notes(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        if i == 44:
            self.fetch_remote(i)
        return torch.randn(4), torch.randn(1)

    def fetch_remote(self, i):
        time.sleep(3600)  # expect: RNK001


torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in DataLoader(Notes(), batch_size=4, num_workers=2):
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
