import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
x = torch.randn(240, 4)
y = torch.rand(240, 1)
weight = torch.ones(240)
weight[130:135] = 0.0


def loss_of(out, target, w):
    return ((out - target) ** 2 / w[:, None]).mean()  # origin




class Sign(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                seen = self.state[p].setdefault("seen", torch.zeros_like(p))
                seen += p.grad
                p -= group["lr"] * p.grad.sign()


opt = Sign(net.parameters(), lr=1e-3)
for i in range(0, 240, 20):
    loss = loss_of(net(x[i:i + 20]), y[i:i + 20], weight[i:i + 20])
    opt.zero_grad()
    loss.backward()
    opt.step()
