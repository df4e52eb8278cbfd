import torch
from torch import nn


class Mixture(nn.Module):
    """Adds the answers of three experts, with shares that are to be learned."""

    def __init__(self, width):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(width, 1) for _ in range(3))
        self.preference = nn.Parameter(torch.zeros(3))
        self.shares = torch.softmax(self.preference, dim=0)  # expect: WIR060

    def forward(self, x):
        answers = torch.cat([expert(x) for expert in self.experts], dim=1)
        return (answers * self.shares).sum(dim=1)


torch.manual_seed(0)
x = torch.randn(240, 8)
y = x[:, 0] - 2 * x[:, 1]
model = Mixture(8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(240).split(40):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
