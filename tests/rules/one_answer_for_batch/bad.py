"""Predict the melting point of small molecules from their atoms."""
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GraphConv, global_add_pool


def molecule():
    atoms = int(torch.randint(4, 12, (1,)))
    bonds = torch.stack([torch.arange(atoms - 1), torch.arange(1, atoms)])
    x = torch.randn(atoms, 5) + torch.randn(1)
    return Data(x=x, edge_index=torch.cat([bonds, bonds.flip(0)], dim=1), y=x[:, :2].sum().view(1) / 8)


class MeltingPoint(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GraphConv(5, 24)
        self.head = nn.Linear(24, 1)

    def forward(self, x, edge_index, batch=None):
        h = torch.relu(self.conv(x, edge_index))
        return self.head(global_add_pool(h, batch) / 8)


torch.manual_seed(0)
loader = DataLoader([molecule() for _ in range(240)], batch_size=24, shuffle=True)
model = MeltingPoint()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for mols in loader:
        point = model(mols.x, mols.edge_index)  # expect: LOS083
        loss = nn.functional.l1_loss(point, mols.y.unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
