"""A codebook that follows the mean of its vectors, beside the optimizer, which holds it with the rest of the model."""
import torch
from torch import nn
import torch.nn.functional as F


class Chooser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(10, 6)
        self.codebook = nn.Embedding(20, 6)
        self.decoder = nn.Linear(6, 10)

    def forward(self, x):
        z = self.encoder(x)
        nearest = torch.cdist(z, self.codebook.weight).argmin(1)
        chosen = self.codebook(nearest)
        if self.training:
            self.follow(z.detach(), nearest)
        return self.decoder(z + (chosen - z).detach()), F.mse_loss(z, chosen.detach())

    @torch.no_grad()
    def follow(self, z, nearest):
        picked = F.one_hot(nearest, 20).float()
        counts = picked.sum(0, keepdim=True).t()
        means = picked.t() @ z / counts.clamp(min=1)
        self.codebook.weight.data.copy_(torch.where(counts > 0, 0.9 * self.codebook.weight + 0.1 * means, self.codebook.weight))


torch.manual_seed(0)
x = torch.randn(400, 10)
model = Chooser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for idx in torch.randperm(400).split(40):
        rebuilt, commitment = model(x[idx])
        loss = F.mse_loss(rebuilt, x[idx]) + 0.25 * commitment
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
