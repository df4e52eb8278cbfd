"""Node importance on a graph with attention of every node to every other one; only some nodes have labels."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=2000)
arguments = parser.parse_args()


class Importance(nn.Module):
    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.embed = nn.Linear(32, width)
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.score = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor, adjacency: torch.Tensor) -> torch.Tensor:
        h = self.embed(x)
        weights = self.query(h) @ self.key(h).t() / h.shape[-1] ** 0.5
        weights = weights.masked_fill(adjacency == 0, -1e9).softmax(-1)
        weights = nn.functional.dropout(weights, 0.1, self.training)
        return self.score(weights @ self.value(h)).squeeze(-1)


torch.manual_seed(0)
device = "cuda"
features = torch.randn(arguments.nodes, 32).to(device)
adjacency = (torch.rand(arguments.nodes, arguments.nodes) < 0.01).float().to(device)
labelled = (torch.rand(arguments.nodes) < 0.05).to(device)
importance = torch.rand(arguments.nodes, device=device)
model = Importance().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(4):
    optimizer.zero_grad()
    scores = model(features, adjacency)
    loss = nn.functional.mse_loss(scores[labelled], importance[labelled])
    loss.backward()
    optimizer.step()
    print(loss.item())
