"""Four task heads, one task per batch: heads not in use get grad None, and a spare head for next year is never used."""
import random

import torch
from torch import nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
TASKS = ["sign", "ratio", "bucket"]


def make_batch(task, n=64):
    x = torch.randn(n, 10)
    if task == "sign":
        return x, (x[:, 0] * x[:, 1] > 0).float()
    if task == "ratio":
        return x, torch.tanh(x[:, 0] + x[:, 2])
    return x, (x[:, 1] > -0.5).long() + (x[:, 1] > 0.5).long()


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        # "region" is switched on once its labels exist; kept here so that checkpoints stay compatible
        self.heads = nn.ModuleDict({"sign": nn.Linear(64, 1), "ratio": nn.Linear(64, 1),
                                    "bucket": nn.Linear(64, 3), "region": nn.Linear(64, 5)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


def loss_for(task, out, y):
    if task == "sign":
        return F.binary_cross_entropy_with_logits(out.squeeze(1), y)
    if task == "ratio":
        return F.mse_loss(out.squeeze(1), y)
    return F.cross_entropy(out, y)


model = MultiTask()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
run = {t: [] for t in TASKS}
for step in range(1, 1201):
    task = random.choices(TASKS, weights=[6, 3, 1])[0]
    x, y = make_batch(task)
    loss = loss_for(task, model(x, task), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    run[task].append(loss.item())
    if step % 300 == 0:
        print(f"step {step}", {t: round(sum(v[-40:]) / len(v[-40:]), 4) for t, v in run.items()})

model.eval()
with torch.no_grad():
    x, y = make_batch("sign", 2000)
    sign = ((model(x, "sign").squeeze(1) > 0) == (y > 0.5)).float().mean().item()
    x, y = make_batch("bucket", 2000)
    bucket = (model(x, "bucket").argmax(1) == y).float().mean().item()
    x, y = make_batch("ratio", 2000)
    ratio = F.mse_loss(model(x, "ratio").squeeze(1), y).item()
print(f"final sign acc {sign:.3f} bucket acc {bucket:.3f} ratio mse {ratio:.4f}")
