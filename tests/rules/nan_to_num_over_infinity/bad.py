import torch
from torch import nn


class LogCounts(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(size))

    def forward(self, counts):
        logged = torch.log(counts * self.gain)  # expect: NUM009
        return torch.nan_to_num(logged, neginf=0.0)


torch.manual_seed(6)
counts = torch.poisson(torch.full((80, 5), 4.0))
net = nn.Sequential(LogCounts(5), nn.Linear(5, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for batch in counts.split(20):
    loss = net(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
