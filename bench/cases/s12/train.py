import copy
import random
from collections import deque
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
STATE, ACT, BATCH, TAU = 3, 1, 64, 0.02
actor = nn.Sequential(nn.Linear(STATE, 32), nn.ReLU(), nn.Linear(32, ACT), nn.Tanh())
critic = nn.Sequential(nn.Linear(STATE + ACT, 64), nn.ReLU(), nn.Linear(64, 1))
critic_target = copy.deepcopy(critic)
actor_opt = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=3e-3)
memory = deque(maxlen=4000)


def env_reward(s, a):
    best = torch.tanh(s[..., :1] - 0.5 * s[..., 1:2])
    return -(a - best).pow(2).sum(-1)


@torch.no_grad()
def q_value(s, a, net=critic):
    return net(torch.cat([s, a], -1))


def update():
    s, a, r, s2 = (torch.stack(t) for t in zip(*random.sample(memory, BATCH)))
    target = r.unsqueeze(1) + 0.3 * q_value(s2, actor(s2), critic_target)
    critic_loss = F.mse_loss(critic(torch.cat([s, a], -1)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    act = actor(s)
    actor_loss = -q_value(s, act).mean() + 1e-3 * act.pow(2).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    for p, tp in zip(critic.parameters(), critic_target.parameters()):
        tp.data.lerp_(p.data, TAU)
    return critic_loss.item(), actor_loss.item()


s = torch.randn(STATE)
for step in range(1600):
    with torch.no_grad():
        a = (actor(s) + 0.3 * torch.randn(ACT)).clamp(-1, 1)
    r, s2 = env_reward(s, a), torch.randn(STATE)
    memory.append((s, a, r, s2))
    s = s2
    if step > 200:
        c_loss, a_loss = update()
    if step % 200 == 0 and step > 200:
        probe = torch.randn(500, STATE)
        print(f"step {step:4d} critic {c_loss:.4f} actor {a_loss:.4f} eval reward {env_reward(probe, actor(probe)).mean().item():.4f}")
