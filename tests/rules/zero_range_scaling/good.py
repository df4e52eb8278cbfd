import torch
from torch import nn


def scaled(masks):
    largest = masks.amax(dim=(1, 2), keepdim=True)
    return masks / largest.clamp_min(1e-6)


torch.manual_seed(27)
masks = (torch.rand(40, 4, 4) > 0.5).float()
masks[5] = 0
net = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
labels = torch.randint(0, 2, (40,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for rows in torch.arange(40).split(10):
    loss = nn.functional.cross_entropy(net(scaled(masks[rows])), labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
