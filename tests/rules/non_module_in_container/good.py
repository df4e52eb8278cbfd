import torch
from torch import nn


class EdgeEncoder(nn.Module):
    def __init__(self, types=4, dim=8):
        super().__init__()
        self.edge_weight = nn.ParameterList(nn.Parameter(torch.randn(dim) * 0.1) for _ in range(types))
        self.layers = nn.ModuleList([nn.Linear(dim, dim)])
        self.out = nn.Linear(dim, 1)

    def forward(self, x, kind):
        return self.out(self.layers[0](x) * self.edge_weight[kind])


torch.manual_seed(0)
model = EdgeEncoder()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for kind in range(4):
    loss = model(torch.randn(5, 8), kind).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
