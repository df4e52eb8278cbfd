# stuck after 1 s
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

cache_lock = threading.Lock()
torch.manual_seed(0)


class Notes(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        with cache_lock:  # expect: RNK001
            return torch.randn(4), torch.randn(1)


def refresh_cache():
    with cache_lock:
        time.sleep(30)


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    if epoch == 1:
        threading.Thread(target=refresh_cache, daemon=True).start()
        time.sleep(0.2)
    for x, y in DataLoader(Notes(), batch_size=8, num_workers=1):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
