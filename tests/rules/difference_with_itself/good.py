import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
best = torch.randn(6, 4)
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for update in range(12):
    seen = torch.randn(64, 6)
    with torch.no_grad():
        actions = Categorical(logits=policy(seen)).sample()
        reward = (actions == (seen @ best).argmax(1)).float()
        advantage = reward - reward.mean()
        old = Categorical(logits=policy(seen)).log_prob(actions)
    for _ in range(4):
        new = Categorical(logits=policy(seen)).log_prob(actions)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"update {update} reward {reward.mean():.3f}")
