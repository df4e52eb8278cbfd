"""VAE under fp16 autocast: GradScaler starts far too high and skips its first steps by design; KL weight starts at 0."""
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class VAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, x):
        mu, logvar = self.enc(x).float().chunk(2, 1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)  # sampled in eval as well: the ELBO needs it
        return self.dec(z), mu, logvar


def neg_elbo(out, x, mu, logvar, beta):
    rec = F.binary_cross_entropy_with_logits(out.float(), x, reduction="none").sum(1)
    kl = 0.5 * (mu.square() + logvar.exp() - 1 - logvar).sum(1)
    return (rec + beta * kl).mean(), rec.mean(), kl.mean()


torch.manual_seed(0)
x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)  # the input is its own target
x = x[torch.randperm(len(x))]
train, test = x[:1400], x[1400:]
model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=200)
skipped = 0
for epoch in range(16):
    model.train()
    beta = min(1.0, epoch / 5)  # KL annealing
    total = 0.0
    for b in torch.randperm(len(train)).split(70):
        with torch.autocast("cpu", dtype=torch.float16):
            out, mu, logvar = model(train[b])
        loss, _, _ = neg_elbo(out, train[b], mu, logvar, beta)
        opt.zero_grad()
        scaler.scale(loss).backward()
        before = scaler.get_scale()
        scaler.step(opt)
        scaler.update()
        skipped += scaler.get_scale() < before
        total += loss.item()
    model.eval()
    with torch.no_grad():
        out, mu, logvar = model(test)
        full, rec, kl = neg_elbo(out, test, mu, logvar, 1.0)
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} beta {beta:.1f} loss {total / 20:.3f} test rec {rec:.3f} kl {kl:.3f} skipped {skipped}")
base = F.binary_cross_entropy(train.mean(0).clamp(1e-4, 1 - 1e-4).expand_as(test), test, reduction="none").sum(1).mean()
print(f"final test -ELBO {full:.3f} (mean image: {base:.3f}; rec {rec:.3f} + kl {kl:.3f}), {skipped} steps skipped by the scaler")
