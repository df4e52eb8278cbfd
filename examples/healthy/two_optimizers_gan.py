"""GAN on a shifted 2-D Gaussian: neither loss "converges", the sample statistics do."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
MEAN = torch.tensor([2.0, -1.0])
STD = torch.tensor([0.5, 1.0])


def real_batch(n):
    return MEAN + STD * torch.randn(n, 2)


gen = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
disc = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(disc.parameters(), lr=2e-3, betas=(0.5, 0.99))
avg_gen = torch.optim.swa_utils.AveragedModel(gen, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)

for step in range(1, 1201):
    # D: the fake batch is cut off from G on purpose
    fake = gen(torch.randn(128, 4))
    d_loss = F.binary_cross_entropy_with_logits(disc(real_batch(128)), ones)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(disc(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    # G: gradients also land in D, and are wiped before D's next step
    g_loss = F.binary_cross_entropy_with_logits(disc(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    avg_gen.update_parameters(gen)

    if step % 300 == 0:
        with torch.no_grad():
            s = avg_gen(torch.randn(4000, 4))
        gap = (s.mean(0) - MEAN).abs().max() + (s.std(0) - STD).abs().max()
        print(f"step {step} d {d_loss.item():.3f} g {g_loss.item():.3f} moment gap {gap:.3f}")

print(f"final moment gap {gap:.3f}")
