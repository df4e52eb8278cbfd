import torch
from torch import nn

torch.manual_seed(0)
readings = torch.randn(512, 2) * 0.4 + torch.tensor([2.0, -1.0])
generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(3):
    for real in readings[torch.randperm(512)].split(32):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = generator(torch.randn(len(real), 4))
        loss_c = bce(critic(real), ones) + bce(critic(fake.detach()), zeros)
        loss_c.backward()
        opt_c.step()
        opt_c.zero_grad()

        critic.requires_grad_(False)
        loss_g = bce(critic(fake), ones)
        loss_g.backward()
        opt_g.step()
        opt_g.zero_grad()
        critic.requires_grad_(True)
    print(f"epoch {epoch} critic {loss_c.item():.3f} generator {loss_g.item():.3f}")
