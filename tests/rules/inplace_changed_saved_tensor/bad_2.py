import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Linear(4, 8)
critic = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters())
opt_c = torch.optim.Adam(critic.parameters())
real = torch.randn(32, 8)
for step in range(2):
    fake = generator(torch.randn(32, 4))
    score_fake = critic(fake)
    loss_c = score_fake.mean() - critic(real).mean()
    loss_g = -score_fake.mean()
    opt_c.zero_grad()
    loss_c.backward(retain_graph=True)
    opt_c.step()  # expect: ERR012
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
