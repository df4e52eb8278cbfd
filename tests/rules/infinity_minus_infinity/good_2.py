import torch
from torch import nn

torch.manual_seed(0)
STATES, FRAMES = 4, 8


def path_score(scores):
    """Log of the sum over all monotonic ways through the states, one step at a time."""
    start = torch.full((scores.size(0), STATES), -1e30)
    alpha = torch.cat([scores[:, 0, :1], start[:, 1:]], 1)
    for t in range(1, FRAMES):
        before = torch.cat([start[:, :1], alpha[:, :-1]], 1)
        alpha = torch.logaddexp(alpha, before) + scores[:, t]
    return alpha[:, -1]


model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, STATES), nn.LogSoftmax(-1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(10):
    loss = -path_score(model(torch.randn(16, FRAMES, 6))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
