import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

TYPES = 12


def molecule(n):
    ring = torch.arange(n)
    return Data(
        edge_index=torch.stack([ring, ring.roll(1)]),
        atom_index=torch.randint(0, TYPES, (n,)),  # expect: DAT240
        num_nodes=n,
        y=torch.tensor([n % 2]),
    )


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.atoms = nn.Embedding(TYPES, 16)
        self.conv = GCNConv(16, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, graphs):
        x = self.conv(self.atoms(graphs.atom_index), graphs.edge_index).relu()
        return self.head(global_mean_pool(x, graphs.batch))


torch.manual_seed(0)
molecules = [molecule(n) for n in torch.randint(5, 20, (64,)).tolist()]
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for graphs in DataLoader(molecules, batch_size=8):
    loss = nn.functional.cross_entropy(model(graphs), graphs.y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
