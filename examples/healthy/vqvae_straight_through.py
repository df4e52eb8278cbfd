"""VQ-VAE on digits: argmin code look-up, straight-through copy, two stop-gradients, EMA-free codebook loss."""
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Quantizer(nn.Module):
    def __init__(self, codes=32, dim=8):
        super().__init__()
        self.book = nn.Parameter(torch.randn(codes, dim))

    def forward(self, z):
        idx = torch.cdist(z.detach(), self.book.detach()).argmin(1)
        q = self.book[idx]
        vq = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), vq, idx


class VQVAE(nn.Module):
    def __init__(self, slots=4, dim=8):
        super().__init__()
        self.slots, self.dim = slots, dim
        self.enc = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, slots * dim))
        self.vq = Quantizer(dim=dim)
        self.dec = nn.Sequential(nn.Linear(slots * dim, 96), nn.ReLU(), nn.Linear(96, 64), nn.Sigmoid())

    def forward(self, x):
        z = self.enc(x).view(-1, self.dim)
        q, vq_loss, idx = self.vq(z)
        return self.dec(q.view(-1, self.slots * self.dim)), vq_loss, idx


torch.manual_seed(0)
x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
x = x[torch.randperm(len(x))]
train, test = x[:1400], x[1400:]
model = VQVAE()
with torch.no_grad():  # start the codebook on real encoder outputs so that no code is born dead
    z = model.enc(train).view(-1, 8)
    model.vq.book.copy_(z[torch.randperm(len(z))[:32]])
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(25):
    total = 0.0
    for b in torch.randperm(len(train)).split(70):
        out, vq_loss, _ = model(train[b])
        loss = F.mse_loss(out, train[b]) + vq_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        out, _, idx = model(test)
        rec = F.mse_loss(out, test).item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / 20:.4f} test mse {rec:.4f} codes used {idx.unique().numel()}")
print(f"final test mse {rec:.4f} (variance of the data {test.var(0, unbiased=False).mean():.4f})")
