import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        hidden = torch.relu(self.body(x))
        score = self.head(hidden)
        return torch.tensor(score.tolist())  # expect: ERR014


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    pred = model(x)
    loss = nn.functional.l1_loss(pred, y)
    loss.backward()
    optimizer.step()


torch.manual_seed(0)
ranker = Ranker()
step(ranker, torch.optim.SGD(ranker.parameters(), lr=0.1), torch.randn(10, 5), torch.randn(10, 1))
