import torch
from torch import nn

torch.manual_seed(0)
NZ, BS = 8, 128


def real_batch(n):
    k = torch.randint(0, 4, (n,))
    centers = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    return centers[k] + 0.15 * torch.randn(n, 2)


netG = nn.Sequential(nn.Linear(NZ, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 2))
netD = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
optG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.99))
optD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BS, 1), torch.zeros(BS, 1)


def coverage(n=1000):
    with torch.no_grad():
        fake = netG(torch.randn(n, NZ))
    ref = real_batch(n)
    d = torch.cdist(fake, ref).min(1).values
    back = torch.cdist(ref, fake).min(1).values
    return (d.mean() + back.mean()).item()


for it in range(1501):
    real = real_batch(BS)
    noise = torch.randn(BS, NZ)
    fake = netG(noise)

    lossD = bce(netD(real), ones) + bce(netD(fake.detach()), zeros)
    lossD.backward()
    optD.step()

    optG.zero_grad()
    lossG = bce(netD(fake), ones)
    lossG.backward()
    optG.step()

    if it % 250 == 0:
        print(f"[{it:4d}] Loss_D {lossD.item():.3f} Loss_G {lossG.item():.3f} distance to data {coverage():.3f}")
