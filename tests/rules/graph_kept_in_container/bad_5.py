import torch
from torch import nn


class Memory:
    """What happened in earlier steps, row by row."""

    def __init__(self):
        self.rows = []

    def remember(self, step, state, reward):
        self.rows.append((step, state, reward))


def run(steps):
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 6))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    memory = Memory()
    for step in range(steps):
        x = torch.randn(256, 6)
        guess = policy(x)
        memory.remember(step, guess, float(x.mean()))  # expect: MEM001
        loss = nn.functional.mse_loss(policy(x), x.flip(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return memory


print(len(run(80).rows))
