import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator, critic = nn.Linear(4, 8), nn.Linear(8, 1)
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(60):
    real, made = torch.randn(32, 8), generator(torch.randn(32, 4))
    of_critic.zero_grad()
    loss = F.softplus(-critic(real)).mean()
    loss += F.softplus(critic(made.detach())).mean()
    loss.backward()
    of_critic.step()
    of_generator.zero_grad()
    loss = F.softplus(-critic(made)).mean()
    loss.backward()
    of_generator.step()
print(f"loss {loss.item():.3f}")
