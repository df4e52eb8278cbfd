import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)


@torch.no_grad()  # expect: WIR011
def value(state, action):
    return critic(torch.cat([state, action], dim=1))


for step in range(40):
    state, action = torch.randn(64, 4), torch.rand(64, 1) * 2 - 1
    reward = -(action - state[:, :1].tanh()).square()
    critic_loss = F.mse_loss(critic(torch.cat([state, action], dim=1)), reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()
    chosen = actor(state)
    actor_loss = 0.01 * chosen.square().mean() - value(state, chosen).mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
print(f"actor {actor_loss.item():.3f}")
