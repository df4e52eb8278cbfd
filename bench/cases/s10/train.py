import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, d=20, z=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 64), nn.ReLU())
        self.mu = nn.Linear(64, z)
        self.logvar = nn.Linear(64, z)
        self.dec = nn.Sequential(nn.Linear(z, 64), nn.ReLU(), nn.Linear(64, d))

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        dist = torch.distributions.Normal(mu, std)
        return dist.sample()

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def elbo(rec, x, mu, logvar, beta=0.2):
    mse = F.mse_loss(rec, x, reduction="sum") / len(x)
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum() / len(x)
    return mse + beta * kld, mse, kld


torch.manual_seed(0)
mix = torch.randn(3, 20)
data = torch.tanh(torch.randn(3000, 3) @ mix) + 0.05 * torch.randn(3000, 20)
train, test = data[:2500], data[2500:]
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(15):
    vae.train()
    for idx in torch.randperm(len(train)).split(100):
        rec, mu, logvar = vae(train[idx])
        loss, mse, kld = elbo(rec, train[idx], mu, logvar)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        _, test_mse, test_kld = elbo(*(lambda r: (r[0], test, r[1], r[2]))(vae(test)))
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d} train loss {loss.item():.3f} test rec {test_mse.item():.3f} kl {test_kld.item():.3f}")
