import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, n_tags=200, dim=32):
        super().__init__()
        self.inp = nn.Linear(n_tags, 64, bias=False)
        self.out = nn.Linear(64, dim, bias=False)

    def forward(self, tags):
        return self.out(F.relu(self.inp(tags)))


def unit(v):
    return v / (v.norm(dim=1, keepdim=True) + 1e-8)


def make_pairs(n=3000, n_tags=200, seed=1):
    g = torch.Generator().manual_seed(seed)
    topic = torch.randint(0, 10, (n,), generator=g)
    prob = torch.full((n, n_tags), 0.01)
    for t in range(10):
        prob[topic == t, t * 20:(t + 1) * 20] = 0.25
    users = torch.bernoulli(prob, generator=g)
    items = torch.bernoulli(prob, generator=g)
    return users, items


users, items = make_pairs()
torch.manual_seed(0)
user_tower, item_tower = Tower(), Tower()
params = list(user_tower.parameters()) + list(item_tower.parameters())
opt = torch.optim.Adam(params, lr=2e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for epoch in range(4):
    total = 0.0
    for idx in torch.randperm(len(users)).split(100):
        with torch.autocast("cpu", dtype=torch.float16):
            u = unit(user_tower(users[idx]))
            v = unit(item_tower(items[idx]))
            sim = u @ v.t() / 0.1
            loss = F.cross_entropy(sim.float(), torch.arange(len(idx)))
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        total += loss.item()
    print(f"epoch {epoch} mean loss {total / 30:.4f} loss scale {scaler.get_scale():.3f}")
