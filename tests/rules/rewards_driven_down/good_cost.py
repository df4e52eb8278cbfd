# What is to be made small is a cost: no minus belongs there.
import torch
from torch import nn
from torch.distributions import Categorical


class Walk:
    def reset(self):
        self.at, self.time = 0, 0
        return torch.tensor([0.0, 1.0])

    def step(self, action):
        self.time += 1
        self.at += 1 if action else -1
        return torch.tensor([self.at / 10, 1.0]), abs(self.at) / 5, self.time >= 12, {}


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = Walk()
for episode in range(50):
    log_probs, costs = [], []
    state, done = env.reset(), False
    while not done:
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        state, cost, done, _ = env.step(int(action))
        costs.append(cost)
    returns = torch.tensor(costs).flip(0).cumsum(0).flip(0)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = (torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"cost {sum(costs)}")
