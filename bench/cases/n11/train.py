import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

cfg = dict(hidden=64, batch=64, lr=0.4, momentum=0.9, steps=300, log_every=25, seed=17)
torch.manual_seed(cfg["seed"])

raw_x, raw_y = make_friedman1(n_samples=3000, n_features=10, noise=0.5, random_state=cfg["seed"])
x = torch.tensor(StandardScaler().fit_transform(raw_x), dtype=torch.float32)
y = torch.tensor(StandardScaler().fit_transform(raw_y[:, None]), dtype=torch.float32)
loader = DataLoader(TensorDataset(x, y), batch_size=cfg["batch"], shuffle=True, drop_last=True)

net = nn.Sequential(
    nn.Linear(10, cfg["hidden"]), nn.SiLU(),
    nn.Linear(cfg["hidden"], cfg["hidden"]), nn.SiLU(),
    nn.Linear(cfg["hidden"], 1),
)
opt = torch.optim.SGD(net.parameters(), lr=cfg["lr"], momentum=cfg["momentum"])

it = iter(loader)
step = 0
while True:
    try:
        xb, yb = next(it)
    except StopIteration:
        it = iter(loader)
        xb, yb = next(it)
    loss = F.mse_loss(net(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % cfg["log_every"] == 0:
        print(f"[{step}/{cfg['steps']}] mse {loss.item():.5g}")
    step += 1
    if step >= cfg["steps"]:
        break
