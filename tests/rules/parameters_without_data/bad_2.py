import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.body(x).relu())


def build(device):
    with torch.device("meta"):
        model = Net()
    return model.to(device)  # expect: ERR110


torch.manual_seed(0)
net = build("cpu")
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 2, (32,))
loss = nn.functional.cross_entropy(net(x), y)
loss.backward()
opt.step()
