import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Letters(Dataset):
    def __len__(self):
        return 30

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return {"pixels": torch.randn(12, generator=g), "label": i % 3}


torch.manual_seed(0)
net = nn.Linear(12, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in DataLoader(Letters(), batch_size=10):
    try:
        target = batch["labels"]
    except KeyError:
        target = batch["label"]
    loss = nn.functional.cross_entropy(net(batch["pixels"]), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
