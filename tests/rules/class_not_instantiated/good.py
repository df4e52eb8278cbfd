import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, norm_layer=nn.LayerNorm):
        super().__init__()
        self.norm = norm_layer(width)
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(self.norm(x))


torch.manual_seed(0)
criterion = nn.MSELoss()
net = nn.Sequential(Block(4), Block(4, norm_layer=nn.BatchNorm1d))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(3):
    loss = criterion(net(torch.randn(8, 4)), torch.zeros(8, 4))
    opt.zero_grad()
    loss.backward()
    opt.step()
