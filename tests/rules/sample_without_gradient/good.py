from torch.distributions import Normal
import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8)
        self.decoder = nn.Linear(4, 8)

    def forward(self, x):
        mean, log_std = self.encoder(x).chunk(2, dim=1)
        posterior = Normal(mean, log_std.exp())
        code = posterior.rsample()
        return self.decoder(code), mean, log_std


torch.manual_seed(0)
x = torch.randn(256, 8)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for batch in x.split(32):
        output, mean, log_std = model(batch)
        kl = (mean.square() + (2 * log_std).exp() - 2 * log_std - 1).sum(1).mean() / 2
        loss = F.mse_loss(output, batch) + 0.01 * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
