"""strict=False on purpose (new head), then training is cut in two by a checkpoint that holds model, optimizer, scheduler and RNG."""
import os
import tempfile

import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU())
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def epochs(model, opt, sched, xs, ys, n):
    for _ in range(n):
        total = 0.0
        for b in torch.randperm(len(xs)).split(65):
            loss = F.cross_entropy(model(xs[b]), ys[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        print(f"  loss {total / 20:.4f} lr {sched.get_last_lr()[0]:.5f}")


def build(model, lr):
    opt = torch.optim.Adam([{"params": model.backbone.parameters(), "lr": lr / 10}, {"params": model.head.parameters()}], lr=lr)
    return opt, torch.optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.5)


torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
tr, te = perm[:1300], perm[1300:]

old = Net(2)
opt = torch.optim.Adam(old.parameters(), lr=2e-3)
epochs(old, opt, torch.optim.lr_scheduler.ConstantLR(opt, 1.0, 1), x[tr], y[tr] % 2, 4)

model = Net(10)
body = {k: v for k, v in old.state_dict().items() if k.startswith("backbone.")}
report = model.load_state_dict(body, strict=False)
assert report.missing_keys == ["head.weight", "head.bias"] and not report.unexpected_keys
opt, sched = build(model, 1e-2)
with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "ckpt.pt")
    epochs(model, opt, sched, x[tr], y[tr], 4)
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(),
                "rng": torch.get_rng_state()}, path)
    print("resume in a fresh model")
    model = Net(10)
    opt, sched = build(model, 1e-2)
    ckpt = torch.load(path, weights_only=True)
model.load_state_dict(ckpt["model"])
opt.load_state_dict(ckpt["opt"])
sched.load_state_dict(ckpt["sched"])
torch.set_rng_state(ckpt["rng"])
epochs(model, opt, sched, x[tr], y[tr], 5)
model.eval()
with torch.no_grad():
    acc = (model(x[te]).argmax(1) == y[te]).float().mean().item()
print(f"final test accuracy {acc:.3f}")
