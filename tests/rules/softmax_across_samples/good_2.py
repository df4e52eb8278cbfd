"""Two towers whose batch is its own set of negatives: the softmax over the batch is meant."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(8, 16), nn.Linear(6, 16)

    def forward(self, a, b):
        a, b = F.normalize(self.left(a), dim=1), F.normalize(self.right(b), dim=1)
        scores = a @ b.T / 0.1
        by_row, by_column = torch.softmax(scores, dim=1), torch.softmax(scores, dim=0)
        return (by_row * by_column).clamp_min(1e-9).log()


model = Towers()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    a = torch.randn(32, 8)
    b = a[:, :6] + 0.1 * torch.randn(32, 6)
    loss = F.nll_loss(model(a, b), torch.arange(32))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
