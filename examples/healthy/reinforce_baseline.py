"""REINFORCE on a noisy corridor: the surrogate loss hovers about 0 while the return climbs."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(0)
ENVS, HORIZON = 64, 20


def obs(pos, goal):
    return torch.stack([pos, goal, goal - pos], 1) / 5.0


policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
value = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([{"params": policy.parameters(), "lr": 1e-2}, {"params": value.parameters(), "lr": 1e-2}])
history = []

for it in range(1, 121):
    pos = torch.randint(-5, 6, (ENVS,)).float()
    goal = torch.randint(-5, 6, (ENVS,)).float()
    logps, values, rewards, ents = [], [], [], []
    for _ in range(HORIZON):
        o = obs(pos, goal)
        dist = Categorical(logits=policy(o))
        a = dist.sample()  # no gradient through the sample, by design
        slip = torch.rand(ENVS) < 0.1
        move = torch.where(slip, torch.randint(-1, 2, (ENVS,)), a - 1).float()
        pos = (pos + move).clamp(-5, 5)
        logps.append(dist.log_prob(a))
        ents.append(dist.entropy())
        values.append(value(o).squeeze(1))
        rewards.append((pos == goal).float())

    ret, returns = torch.zeros(ENVS), []
    for r in reversed(rewards):
        ret = r + 0.9 * ret
        returns.insert(0, ret)
    returns = torch.stack(returns)
    logp, v, ent = torch.stack(logps), torch.stack(values), torch.stack(ents)
    adv = returns - v.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    surrogate = -(logp * adv).mean()
    loss = surrogate + 0.5 * F.mse_loss(v, returns) - 0.01 * ent.mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*policy.parameters(), *value.parameters()], 5.0)
    opt.step()
    history.append(torch.stack(rewards).sum(0).mean().item())
    if it % 20 == 0:
        print(f"iter {it} surrogate {surrogate.item():+.4f} value loss {(v - returns).square().mean().item():.3f} return {sum(history[-20:]) / 20:.2f} / {HORIZON}")

print(f"final mean return {sum(history[-10:]) / 10:.2f} (first 10: {sum(history[:10]) / 10:.2f})")
