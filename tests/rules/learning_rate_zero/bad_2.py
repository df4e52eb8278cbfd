"""A warm-up whose division drops the rest: the rate is 0 until it is whole."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def warmup_lambda(warmup, total):
    def fn(step):
        if step < warmup:
            return step // warmup  # expect: TRN073
        return max(0.0, (total - step) / (total - warmup))
    return fn


torch.manual_seed(0)
y = torch.randint(0, 4, (800,))
x = torch.randn(4, 16)[y] + torch.randn(800, 16)
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
net = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 4))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
total = 6 * len(loader)
sched = torch.optim.lr_scheduler.LambdaLR(opt, warmup_lambda(80, total))
for epoch in range(6):
    s = 0
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        s += loss.item()
    print(epoch, s / len(loader), sched.get_last_lr())
