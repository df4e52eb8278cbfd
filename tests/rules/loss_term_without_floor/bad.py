import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, inputs=20, width=64, latent=4):
        super().__init__()
        self.hidden, self.mu, self.logvar = nn.Linear(inputs, width), nn.Linear(width, latent), nn.Linear(width, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, inputs))

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.decoder(z), mu, logvar


torch.manual_seed(0)
x = (torch.rand(1500, 20) < torch.rand(1500, 1)).float()
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(3):
    for rows in torch.randperm(1500).split(50):
        answer, mu, logvar = model(x[rows])
        error = F.binary_cross_entropy_with_logits(answer, x[rows], reduction="sum") / 50
        kl = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / 50  # expect: LOS064
        loss = error + kl
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch} error {error.item():.3f} kl {kl.item():.3f}")
