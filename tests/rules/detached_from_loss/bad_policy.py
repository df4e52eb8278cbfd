"""Actions are drawn under `no_grad`, as they should be; but their log-probabilities are of a detached copy."""

import torch
from torch import nn


class Corridor:
    def step(self, place, action):
        return (place + 2 * action - 1).clamp(0, 9)

    def log_probability(self, logits, action):
        scores = logits.clone().detach()  # expect: WIR006
        scores[:, 0] -= 0.1
        return torch.log_softmax(scores, 1).gather(1, action[:, None]).squeeze(1)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 2))
        self.baseline = nn.Parameter(torch.zeros(1))

    def rollout(self, world, episodes):
        place, total, gain = torch.full((episodes,), 5), torch.zeros(episodes), torch.zeros(episodes)
        for _ in range(6):
            logits = self.policy(nn.functional.one_hot(place, 10).float())
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=logits).sample()
            total = total + world.log_probability(logits, action)
            place = world.step(place, action)
            gain = gain + place.float() / 10
        return total, gain


torch.manual_seed(0)
agent, world = Agent(), Corridor()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
for it in range(60):
    total, gain = agent.rollout(world, 32)
    ahead = gain - agent.baseline
    loss = -(ahead.detach() * total).mean() + ahead.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 20 == 0:
        print(f"{it} gain {gain.mean().item():.3f}")
