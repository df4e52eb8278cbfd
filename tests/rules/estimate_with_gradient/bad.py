import torch
from torch import nn

torch.manual_seed(0)
states, following = torch.randn(600, 4), torch.randn(600, 4)
actions, rewards = torch.randint(2, (600,)), torch.rand(600)
ended = (torch.rand(600) < 0.1).float()
value = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(value.parameters(), lr=1e-3)
for step in range(150):
    rows = torch.randint(600, (32,))
    chosen = value(states[rows]).gather(1, actions[rows, None]).squeeze(1)
    best = value(following[rows]).max(1).values
    target = rewards[rows] + 0.95 * best * (1 - ended[rows])  # expect: LOS069
    loss = nn.functional.smooth_l1_loss(chosen, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
