import torch
from torch import nn
from torch.distributions import Categorical


class Corridors:
    """Sixteen corridors side by side: a crumb at the near end, a treasure at the far one."""

    def __init__(self):
        self.at = torch.full((16,), 2)

    def look(self):
        return nn.functional.one_hot(self.at, 10).float()

    def step(self, action):
        self.at = self.at + torch.where(action == 1, 1, -1)
        near, far = self.at <= 0, self.at >= 9
        self.at = torch.where(near | far, torch.full_like(self.at, 2), self.at)
        return 0.3 * near.float() + far.float(), (near | far).float()


torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=5e-3)
env = Corridors()
for update in range(150):
    scores, values, entropies, rewards, dones = [], [], [], [], []
    for _ in range(12):
        state = env.look()
        choice = Categorical(logits=actor(state))
        action = choice.sample()
        scores.append(choice.log_prob(action))
        entropies.append(choice.entropy())
        values.append(critic(state).squeeze(-1))
        reward, done = env.step(action)
        rewards.append(reward)
        dones.append(done)
    running, returns = critic(env.look()).squeeze(-1).detach(), []
    for reward, done in zip(reversed(rewards), reversed(dones), strict=True):
        running = reward + 0.95 * running * (1 - done)
        returns.insert(0, running)
    returns, value, entropy = torch.stack(returns), torch.stack(values), torch.stack(entropies).mean()
    advantage = returns - value.detach()
    policy_loss = -(torch.stack(scores) * advantage).mean()
    loss = policy_loss + 0.5 * (returns - value).pow(2).mean() - 0.1 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"entropy {entropy.item():.3f} reward {torch.stack(rewards).mean():.3f}")
