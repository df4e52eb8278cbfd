import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4)
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
for step in range(5):
    real = torch.randn(64, 2)
    fake = generator(torch.randn(64, 8))
    d_fake = critic(fake)
    loss_d = bce(critic(real), ones) + bce(d_fake, zeros)
    opt_d.zero_grad()
    loss_d.backward(retain_graph=True)
    opt_d.step()  # expect: ERR012
    loss_g = bce(d_fake, ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
