"""WGAN with gradient penalty: critic loss is negative, grads of grads, five critic steps per generator step."""
import torch
from torch import nn

torch.manual_seed(1)


def ring(n):
    t = torch.rand(n) * 2 * torch.pi
    return torch.stack([t.cos(), t.sin()], 1) + 0.05 * torch.randn(n, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, o))


def penalty(critic, a, b):
    w = torch.rand(len(a), 1)
    mid = (w * a + (1 - w) * b).requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(mid).sum(), mid, create_graph=True)
    return ((grad.norm(dim=1) - 1) ** 2).mean()


gen, critic = mlp(8, 2), mlp(2, 1)
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-3, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=4e-3, betas=(0.5, 0.9))

for it in range(1, 351):
    critic.requires_grad_(True)
    for _ in range(5):
        real = ring(64)
        with torch.no_grad():
            fake = gen(torch.randn(64, 8))
        c_loss = critic(fake).mean() - critic(real).mean() + 1.0 * penalty(critic, real, fake)
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()

    critic.requires_grad_(False)  # only G needs gradients now
    g_loss = -critic(gen(torch.randn(64, 8))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if it % 50 == 0:
        with torch.no_grad():
            radius = gen(torch.randn(2000, 8)).norm(dim=1)
        off = (radius - 1).abs().mean().item()
        print(f"iter {it} critic {c_loss.item():+.3f} gen {g_loss.item():+.3f} mean |r-1| {off:.3f}")

print(f"final mean |r-1| {off:.3f}")
