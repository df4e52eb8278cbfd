"""Node classification with sampled neighbourhoods. Uses NeighborLoader where it can, a sampler by hand elsewhere."""

import argparse

import torch
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=1024)
ap.add_argument("--fanout", type=int, default=10)
cfg = ap.parse_args()


def make(n=60_000, e=900_000, f=128, classes=40):
    g = torch.Generator().manual_seed(0)
    return Data(
        x=torch.randn(n, f, generator=g),
        edge_index=torch.randint(0, n, (2, e), generator=g),
        y=torch.randint(0, classes, (n,), generator=g),
        train_mask=torch.rand(n, generator=g) < 0.3,
    )


class ByHand:
    """Samples a fixed number of in-neighbours for two hops."""

    def __init__(self, data):
        self.data = data
        self.nodes = data.train_mask.nonzero().view(-1)
        order = data.edge_index[1].argsort()
        self.src = data.edge_index[0][order]
        self.ptr = torch.zeros(data.num_nodes + 1, dtype=torch.long)
        self.ptr[1:] = torch.bincount(data.edge_index[1], minlength=data.num_nodes).cumsum(0)

    def __iter__(self):
        for seeds in self.nodes[torch.randperm(len(self.nodes))].split(cfg.batch_size):
            have, edges = seeds, []
            frontier = seeds
            for _ in range(2):
                deg = self.ptr[frontier + 1] - self.ptr[frontier]
                pick = (torch.rand(len(frontier), cfg.fanout) * deg.clamp(min=1)[:, None]).long()
                src = self.src[(self.ptr[frontier][:, None] + pick).clamp(max=len(self.src) - 1)]
                dst = frontier[:, None].expand_as(src)
                keep = (deg > 0)[:, None].expand_as(src)
                edges.append(torch.stack([src[keep], dst[keep]]))
                have = torch.cat([have, src[keep]]).unique()
                frontier = src[keep].unique()
            relabel = torch.full((self.data.num_nodes,), -1)
            relabel[have] = torch.arange(len(have))
            batch = Data(x=self.data.x[have], edge_index=relabel[torch.cat(edges, 1)], y=self.data.y[seeds])
            batch.seeds = relabel[seeds]
            yield batch


class Net(torch.nn.Module):
    def __init__(self, f=128, hidden=256, classes=40):
        super().__init__()
        self.c1, self.c2 = SAGEConv(f, hidden), SAGEConv(hidden, classes)

    def forward(self, x, edges):
        return self.c2(F.dropout(self.c1(x, edges).relu(), 0.5, self.training), edges)


torch.manual_seed(0)
data = make()
model = Net().to("cuda")
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step, batch in enumerate(ByHand(data)):
    batch = batch.to("cuda")
    out = model(batch.x, batch.edge_index)[batch.seeds]
    loss = F.cross_entropy(out, batch.y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 7:
        break
print("loss", float(loss))
