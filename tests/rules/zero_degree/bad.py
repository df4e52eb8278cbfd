import torch
from torch import nn


class GraphConvolution(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x, source, target):
        degree = torch.zeros(len(x)).index_add(0, target, torch.ones(len(target)))
        norm = degree.pow(-0.5)  # expect: NUM021
        messages = self.linear(x)[source] * (norm[source] * norm[target])[:, None]
        return torch.zeros_like(x).index_add(0, target, messages)


torch.manual_seed(18)
x = torch.randn(30, 8)
source, target = torch.randint(0, 30, (2, 40))
labels = torch.randint(0, 8, (30,))
net = GraphConvolution(8)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    loss = nn.functional.cross_entropy(net(x, source, target), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
