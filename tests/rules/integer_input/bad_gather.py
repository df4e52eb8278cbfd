import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)


class ReplayBuffer:
    def __init__(self, capacity=64, obs_dim=3):
        self.obs, self.nxt = (np.zeros((capacity, obs_dim), dtype=np.float32) for _ in range(2))
        self.act, self.rew = (np.zeros((capacity, 1), dtype=np.float32) for _ in range(2))
        self.size = 0

    def add(self, obs, act, rew, nxt):
        i = self.size % len(self.obs)
        self.obs[i], self.act[i], self.rew[i], self.nxt[i] = obs, act, rew, nxt
        self.size += 1

    def sample(self, k):
        rows = rng.integers(0, min(self.size, len(self.obs)), k)
        return [torch.from_numpy(array[rows]) for array in (self.obs, self.act, self.rew, self.nxt)]


def update(online, optimizer, batch, gamma=0.98):
    obs, act, rew, nxt = batch
    chosen = online(obs).gather(1, act)  # expect: ERR009
    with torch.no_grad():
        backup = rew + gamma * online(nxt).max(1, keepdim=True).values
    loss = nn.functional.mse_loss(chosen, backup)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


memory = ReplayBuffer()
for _ in range(40):
    memory.add(rng.normal(size=3), rng.integers(5), rng.normal(), rng.normal(size=3))
online = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 5))
update(online, torch.optim.Adam(online.parameters(), lr=1e-3), memory.sample(16))
