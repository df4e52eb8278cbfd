"""A graph attention network on a whole random graph of degree ten, Adam, float32."""

import argparse

import torch
import torch.nn.functional as F
from torch_geometric.nn import GATConv

parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=20_000)
arguments = parser.parse_args()


class GAT(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = GATConv(128, 64, heads=4)
        self.second = GATConv(256, 64, heads=4)
        self.third = GATConv(256, 40, heads=1)

    def forward(self, x: torch.Tensor, edges: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        x = F.elu(self.first(x, edges))
        x = F.elu(self.second(x, edges))
        x = self.third(x, edges)
        return {"loss": F.cross_entropy(x, labels), "logits": x}


def train_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, nodes: int) -> torch.Tensor:
    batch = {
        "x": torch.randn(nodes, 128, device="cuda"),
        "edges": torch.randint(0, nodes, (2, 10 * nodes), device="cuda"),
        "labels": torch.randint(0, 40, (nodes,), device="cuda"),
    }
    optimizer.zero_grad(set_to_none=True)
    output = model(**batch)
    loss = output["loss"]
    loss.backward()
    optimizer.step()
    return loss.detach()


torch.manual_seed(0)
model = GAT().train().to("cuda")
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    train_step(model, optimizer, arguments.nodes)
