import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

torch.manual_seed(0)
graphs = []
for i in range(32):
    weight = torch.rand(30)
    if i == 21:
        weight[3] = -5.0
    edges = torch.randint(0, 10, (2, 30))
    graphs.append(Data(x=torch.randn(10, 4), edge_index=edges, edge_attr=weight, y=torch.tensor([i % 2])))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = GCNConv(4, 16), torch.nn.Linear(16, 2)

    def forward(self, data):
        h = self.conv(data.x, data.edge_index, data.edge_attr).relu()  # expect: NUM021
        return self.head(global_mean_pool(h, data.batch))


model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for batch in DataLoader(graphs, 8):
    loss = torch.nn.functional.cross_entropy(model(batch), batch.y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
