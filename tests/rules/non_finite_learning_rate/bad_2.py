import torch
from torch import nn


class Poly:
    def __init__(self, optimizer, base, most, power):
        self.optimizer, self.base, self.most, self.power, self.done = optimizer, base, most, power, 0

    def step(self):
        self.done += 1
        rate = self.base * (1 - self.done / self.most) ** self.power  # expect: NUM027
        for group in self.optimizer.param_groups:
            group["lr"] = rate


torch.manual_seed(24)
x, y = torch.randn(64, 5), torch.randn(64, 1)
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = Poly(optimizer, 0.1, 20, 0.9)
for _ in range(30):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
