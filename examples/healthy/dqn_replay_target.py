"""DQN in a small grid: moving targets, replay deque, target net copied every 100 steps, loss that is not monotone."""
import copy
import random
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
SIZE, GOAL, PITS = 5, (4, 4), {(1, 1), (3, 2), (1, 3)}
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]
STARTS = [(r, c) for r in range(SIZE) for c in range(SIZE) if (r, c) != GOAL and (r, c) not in PITS]


def encode(cell):
    v = torch.zeros(SIZE * SIZE)
    v[cell[0] * SIZE + cell[1]] = 1.0
    return v


def env_step(cell, a):
    r = min(max(cell[0] + MOVES[a][0], 0), SIZE - 1)
    c = min(max(cell[1] + MOVES[a][1], 0), SIZE - 1)
    if (r, c) == GOAL:
        return (r, c), 1.0, True
    if (r, c) in PITS:
        return (r, c), -1.0, True
    return (r, c), -0.02, False


q = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.ReLU(), nn.Linear(64, 4))
q_target = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
replay = deque(maxlen=4000)


@torch.no_grad()
def success():
    wins = 0
    for cell in STARTS:
        for _ in range(20):
            cell, reward, done = env_step(cell, q(encode(cell)).argmax().item())
            if done:
                break
        wins += cell == GOAL
    return wins / len(STARTS)


cell, age = random.choice(STARTS), 0
for t in range(1, 2001):
    eps = max(0.1, 1.0 - t / 1500)
    if random.random() < eps:
        a = random.randrange(4)
    else:
        with torch.no_grad():
            a = q(encode(cell)).argmax().item()
    nxt, reward, done = env_step(cell, a)
    replay.append((encode(cell), a, reward, encode(nxt), float(done)))
    age += 1
    cell, age = (random.choice(STARTS), 0) if done or age == 40 else (nxt, age)

    if len(replay) >= 200:
        s, act, rew, s2, end = zip(*random.sample(replay, 64))
        s, s2, act = torch.stack(s), torch.stack(s2), torch.tensor(act)
        with torch.no_grad():
            goal = torch.tensor(rew) + 0.95 * (1 - torch.tensor(end)) * q_target(s2).max(1).values
        loss = F.smooth_l1_loss(q(s).gather(1, act[:, None]).squeeze(1), goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if t % 100 == 0:
        q_target.load_state_dict(q.state_dict())
    if t % 500 == 0:
        print(f"step {t} eps {eps:.2f} td loss {loss.item():.5f} success {success():.2f}")

print(f"final success rate {success():.2f}")
