import torch
from torch import nn


class MeanPool(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 12, padding_idx=0)
        self.head = nn.Linear(12, 2)

    def forward(self, ids):
        mask = (ids > 0).unsqueeze(-1).float()
        pooled = (self.embed(ids) * mask).sum(1) / mask.sum(1)  # expect: NUM034
        return self.head(pooled)


torch.manual_seed(29)
ids = torch.randint(0, 50, (40, 6))
ids[11] = 0
labels = torch.randint(0, 2, (40,))
net = MeanPool()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for rows in torch.arange(40).split(10):
    loss = nn.functional.cross_entropy(net(ids[rows]), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
