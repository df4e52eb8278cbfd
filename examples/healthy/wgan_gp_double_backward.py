"""WGAN with gradient penalty: critic loss is negative, grads of grads, four critic steps per generator step."""
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(1)


def banana(n):
    t = torch.randn(n)
    return torch.stack([t, 0.5 * t.square() + 0.1 * torch.randn(n)], 1)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, o))


def penalty(critic, a, b):
    w = torch.rand(len(a), 1)
    mid = (w * a + (1 - w) * b).requires_grad_(True)
    (grad,) = torch.autograd.grad(critic(mid).sum(), mid, create_graph=True)
    return ((grad.norm(dim=1) - 1) ** 2).mean()


gen, critic = mlp(4, 2), mlp(2, 1)
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=4e-3, betas=(0.5, 0.9))
smooth = AveragedModel(gen, multi_avg_fn=get_ema_multi_avg_fn(0.97))

for it in range(1, 251):
    critic.requires_grad_(True)
    for _ in range(4):
        real = banana(64)
        with torch.no_grad():
            fake = gen(torch.randn(64, 4))
        c_loss = critic(fake).mean() - critic(real).mean() + 1.0 * penalty(critic, real, fake)
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()

    critic.requires_grad_(False)  # only G needs gradients now
    g_loss = -critic(gen(torch.randn(64, 4))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    smooth.update_parameters(gen)

    if it % 50 == 0:
        with torch.no_grad():
            s = smooth(torch.randn(2000, 4))
        off = (s[:, 1] - 0.5 * s[:, 0].square()).abs().mean().item()
        width = s[:, 0].std().item()
        print(f"iter {it} critic {c_loss.item():+.3f} gen {g_loss.item():+.3f} distance to curve {off:.3f} width {width:.2f}")

print(f"final distance to curve {off:.3f} width {width:.2f} (true 0.08 and 1.0)")
