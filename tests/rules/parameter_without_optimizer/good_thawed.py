"""The optimizer was given everything at once: it passes over what needs no gradient yet."""
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 4)

    def forward(self, x):
        return self.head(self.backbone(x))


def freeze(m):
    for p in m.parameters():
        p.requires_grad = False


def unfreeze(m):
    for p in m.parameters():
        p.requires_grad = True


net = Net()
freeze(net.backbone)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
y = torch.randint(0, 4, (640,))
x = torch.randn(4, 30)[y] + 1.2 * torch.randn(640, 30)
for epoch in range(8):
    if epoch == 3:
        unfreeze(net.backbone)
    for i in range(0, 640, 64):
        loss = nn.functional.cross_entropy(net(x[i:i + 64]), y[i:i + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
