import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv


def communities(n_comm=6, size=50, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n_comm).repeat_interleave(size)
    n = len(y)
    prob = torch.where(y[:, None] == y[None, :], 0.1, 0.005)
    adj = torch.rand(n, n, generator=g) < prob
    adj = adj | adj.T
    x = F.one_hot(y, n_comm).float() @ torch.randn(n_comm, 16, generator=g) * 0.5 + torch.randn(n, 16, generator=g)
    mask = torch.rand(n, generator=g) < 0.3
    return Data(x=x, edge_index=adj.nonzero().T.contiguous(), y=y, train_mask=mask, test_mask=~mask)


class ReZeroGCN(nn.Module):
    def __init__(self, n_in, n_hid, n_out, n_layers=3):
        super().__init__()
        self.embed = nn.Linear(n_in, n_hid)
        self.convs = nn.ModuleList(GCNConv(n_hid, n_hid) for _ in range(n_layers))
        self.gates = nn.ParameterList(nn.Parameter(torch.full((1,), 1e-3)) for _ in range(n_layers))
        self.readout = nn.Linear(n_hid, n_out)

    def forward(self, x, edge_index):
        h = self.embed(x).relu()
        for conv, gate in zip(self.convs, self.gates):
            h = h + gate * conv(h, edge_index).relu()
        return self.readout(h)


torch.manual_seed(1)
data = communities()
model = ReZeroGCN(16, 32, 6)
reg_params = list(model.convs.parameters())
non_reg_params = list(model.embed.parameters()) + list(model.readout.parameters())
optimizer = torch.optim.Adam([
    dict(params=reg_params, weight_decay=5e-4),
    dict(params=non_reg_params, weight_decay=0.0),
], lr=0.01)
for epoch in range(1, 121):
    model.train()
    optimizer.zero_grad()
    out = model(data.x, data.edge_index)
    loss = F.cross_entropy(out[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        model.eval()
        with torch.no_grad():
            pred = model(data.x, data.edge_index).argmax(1)
        acc = (pred[data.test_mask] == data.y[data.test_mask]).float().mean()
        print(f"Epoch {epoch:03d} loss {loss.item():.4f} test {acc:.4f}")
