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
        return torch.tensor([self.at / 10, 1.0]), float(self.at > 0), self.time >= 12, {}


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = Walk()
for episode in range(50):
    log_probs, rewards = [], []
    state, done = env.reset(), False
    while not done:
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        state, reward, done, _ = env.step(int(action))
        rewards.append(reward)
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    adv = (returns - returns.mean()) / (returns.std() + 1e-6)
    score = torch.stack(log_probs)
    ratio = (score - score.detach()).exp()
    loss = torch.max(-adv * ratio, -adv * ratio.clamp(0.8, 1.2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"reward {sum(rewards)}")
