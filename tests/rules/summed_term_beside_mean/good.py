import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, features=40, hidden=32, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(features, hidden), nn.ReLU())
        self.mean, self.logvar = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, features))

    def forward(self, x):
        h = self.encoder(x)
        mean, logvar = self.mean(h), self.logvar(h)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return self.decoder(z), mean, logvar


def kl_divergence(mean, logvar):
    return -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp(), dim=1).mean()


torch.manual_seed(0)
x = torch.tanh(torch.randn(600, 3) @ torch.randn(3, 40)) + 0.1 * torch.randn(600, 40)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(14):
    for rows in torch.randperm(600).split(60):
        answer, mean, logvar = model(x[rows])
        loss = F.mse_loss(answer, x[rows], reduction="none").sum(1).mean() + kl_divergence(mean, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
