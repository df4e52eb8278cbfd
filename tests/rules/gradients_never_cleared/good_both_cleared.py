"""The network and the loss, which has a temperature to learn, are cleared one after the other."""
import torch
from torch import nn


class Contrast(nn.Module):
    """The loss between two views, with a temperature that is learned."""

    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, a, b):
        scores = nn.functional.normalize(a, dim=1) @ nn.functional.normalize(b, dim=1).t() * self.log_scale.exp()
        return nn.functional.cross_entropy(scores, torch.arange(len(a)))


torch.manual_seed(0)
network = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))
contrast = Contrast()
optimizer = torch.optim.SGD([*network.parameters(), *contrast.parameters()], lr=0.05)
for step in range(60):
    x = torch.randn(48, 10)
    loss = contrast(network(x + 0.1 * torch.randn_like(x)), network(x + 0.1 * torch.randn_like(x)))
    network.zero_grad(set_to_none=False)
    contrast.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item(), contrast.log_scale.item())
