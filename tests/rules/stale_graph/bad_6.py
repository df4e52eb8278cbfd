import torch
from torch import nn


class RelationNet(nn.Module):
    """Nodes with a learned similarity, which mixes their features."""

    def __init__(self, nodes, features):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(nodes, 6))
        self.layer = nn.Linear(features, 1)
        self.prepare()

    def prepare(self):
        similarity = torch.softmax(self.embedding @ self.embedding.T, dim=1)
        self.mixing = {"near": similarity, "far": similarity @ similarity}  # expect: ERR015

    def forward(self, x):
        return self.layer(self.mixing["near"] @ x + self.mixing["far"] @ x).squeeze(-1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(RelationNet(nodes=12, features=5))
for _ in range(5):
    x = torch.randn(12, 5)
    print(trainer.step(x, x.mean(1)))
