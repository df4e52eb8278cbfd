import torch
from torch import nn

torch.manual_seed(0)
states, actions = torch.randn(512, 4), torch.randint(3, (512,))
advantages = (states[:, :1] * (actions[:, None] - 1)).float()
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
with torch.no_grad():
    before = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for epoch in range(5):
    for rows in torch.randperm(512).split(64):
        now = torch.distributions.Categorical(logits=policy(states[rows])).log_prob(actions[rows])
        ratio = torch.exp(now - before[rows])
        free = ratio * advantages[rows]  # expect: LOS009
        held = torch.clamp(ratio, 0.8, 1.2) * advantages[rows]
        loss = -torch.min(free, held).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
