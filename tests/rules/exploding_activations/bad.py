import torch
from torch import nn


class Echo(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.cell = nn.RNN(1, hidden, nonlinearity="relu", batch_first=True)  # expect: NUM026
        self.read = nn.Linear(hidden, 1)
        nn.init.normal_(self.cell.weight_hh_l0, std=1.0)

    def forward(self, x):
        return self.read(self.cell(x)[0])


torch.manual_seed(23)
wave = torch.sin(torch.arange(61) * 0.2).reshape(1, -1, 1).repeat(8, 1, 1)
net = Echo(32)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
for step in range(3):
    loss = (net(wave[:, :-1]) - wave[:, 1:]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
