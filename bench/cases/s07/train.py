import torch
import torch.nn.functional as F
from heads import MultiTaskNet

TASKS = {"age": 1, "income": 1, "city": 5}


def people(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.Generator().manual_seed(50)
    x = torch.randn(n, 12, generator=g)
    age = 8.0 * (x[:, :3].sum(1) + 5)
    income = 20.0 * (x[:, 3] * x[:, 4] + 2)
    city = (x @ torch.randn(12, 5, generator=w)).argmax(1)
    return x, {"age": age, "income": income, "city": city}


def multi_loss(out, target):
    return {
        "age": F.smooth_l1_loss(out["age"].squeeze(1), target["age"]),
        "income": F.smooth_l1_loss(out["income"].squeeze(1), target["income"]),
        "city": 10 * F.cross_entropy(out["city"], target["city"]),
    }


torch.manual_seed(4)
x, target = people(2000, 1)
xv, tv = people(500, 2)
model = MultiTaskNet(12, 12, TASKS)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    model.train()
    for idx in torch.randperm(len(x)).split(50):
        losses = multi_loss(model(x[idx]), {k: v[idx] for k, v in target.items()})
        opt.zero_grad()
        sum(losses.values()).backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        out = model(xv)
        parts = multi_loss(out, tv)
        acc = (out["city"].argmax(1) == tv["city"]).float().mean()
    if epoch % 3 == 2:
        print(f"epoch {epoch:2d} " + " ".join(f"{k} {v.item():.3f}" for k, v in parts.items()) + f" city acc {acc:.3f}")
torch.save(model.state_dict(), "multitask.pt")
