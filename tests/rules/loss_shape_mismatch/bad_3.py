import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool


def graph(i):
    n = 5 + i % 4
    edges = torch.randint(0, n, (2, 3 * n))
    return Data(x=torch.randn(n, 6), edge_index=edges, y=torch.tensor([i % 2]))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GINConv(nn.Sequential(nn.Linear(6, 16), nn.ReLU()))
        self.out = nn.Linear(16, 2)

    def forward(self, data):
        h = self.conv(data.x, data.edge_index)
        return self.out(h)  # expect: ERR027


torch.manual_seed(0)
loader = DataLoader([graph(i) for i in range(40)], batch_size=8)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for data in loader:
    scores = net(data)
    loss = nn.functional.cross_entropy(scores, data.y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
