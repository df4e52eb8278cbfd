import torch
from torch import nn


class Cosine(nn.Module):
    def __init__(self, size, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, size))

    def forward(self, x):
        length = x.norm(dim=1, keepdim=True)
        return (x / length) @ self.weight.t()  # expect: NUM033


torch.manual_seed(28)
bags = torch.randint(0, 3, (30, 6)).float()
bags[4] = 0
labels = torch.randint(0, 3, (30,))
net = Cosine(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = nn.functional.cross_entropy(net(bags), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
