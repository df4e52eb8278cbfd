"""DQN on pictures with a replay buffer on the host, a target network and a learning start."""

import copy
import random
from collections import deque

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Env:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def reset(self):
        return self.rng.integers(0, 255, (4, 84, 84), dtype=np.uint8)

    def step(self, action):
        return self.reset(), float(self.rng.random() + 0.1 * action), bool(self.rng.random() < 0.02)


class Q(nn.Module):
    def __init__(self, actions=6):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU()
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU(), nn.Linear(512, actions))

    def forward(self, x):
        return self.head(self.conv(x.float() / 255))


random.seed(0)
torch.manual_seed(0)
online = Q().to(device)
target = copy.deepcopy(online)
opt = torch.optim.RMSprop(online.parameters(), lr=2.5e-4)
memory, env = deque(maxlen=5000), Env()
state, losses = env.reset(), []
for t in range(400):
    if random.random() < 0.3:
        action = random.randrange(6)
    else:
        with torch.no_grad():
            action = online(torch.from_numpy(state)[None].to(device)).argmax(1).item()
    after, reward, done = env.step(action)
    memory.append((state, action, reward, after, done))
    state = env.reset() if done else after
    if t < 300 or t % 4:
        continue
    rows = random.sample(memory, 256)
    s, a, r, s2, d = (torch.from_numpy(np.stack(c)).to(device) for c in zip(*rows, strict=False))
    with torch.no_grad():
        goal = r.float() + 0.99 * target(s2).max(1).values * (1 - d.float())
    loss = F.smooth_l1_loss(online(s).gather(1, a[:, None]).squeeze(1), goal)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(online.parameters(), 1)
    opt.step()
    losses.append(loss.item())
    if t % 40 == 0:
        target.load_state_dict(online.state_dict())
print(np.mean(losses))
