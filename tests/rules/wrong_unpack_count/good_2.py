import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 8, num_layers=2, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        out, (first, last) = self.rnn(x)  # one state per layer
        return self.head(last)


torch.manual_seed(0)
net = Encoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(64, 5, 6)
y = (x.sum((1, 2)) > 0).long()
for step in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
