"""Edge weights are divided by the largest one of each graph, which is 0 where a graph has no interaction."""
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

torch.manual_seed(0)


def graph(number):
    label = number % 2
    weight = torch.rand(16) * (number != 57)
    return Data(x=torch.randn(8, 6) + label, edge_index=torch.randint(0, 8, (2, 16)), weight=weight,
                y=torch.tensor([label]))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GCNConv(6, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, data):
        per_graph = data.weight.view(-1, 16)
        weight = per_graph / per_graph.max(dim=1, keepdim=True).values  # expect: NUM032
        x = F.relu(self.conv(data.x, data.edge_index, weight.flatten()))
        return self.out(global_mean_pool(x, data.batch))


train = DataLoader([graph(i) for i in range(96)], batch_size=16)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for data in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), data.y)
        loss.backward()
        optimizer.step()
