import resource
import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.rnn = nn.GRU(4, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 4)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h)


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum = self.sum + value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


def waves(n, length=60):
    t = torch.arange(length + 1) * 0.2
    f = torch.rand(n, 1, 4) + 0.5
    p = torch.rand(n, 1, 4) * 6
    s = torch.sin(f * t[None, :, None] + p)
    return s[:, :-1], s[:, 1:]


torch.manual_seed(0)
x, y = waves(640)
model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.MSELoss()
train_loss = AverageMeter()
for step in range(100):
    idx = torch.randint(0, len(x), (32,))
    optimizer.zero_grad()
    loss = criterion(model(x[idx]), y[idx])
    loss.backward()
    optimizer.step()
    train_loss.update(loss, len(idx))
    if step % 20 == 19:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"step {step + 1:3d} running loss {train_loss.avg:.4f} peak memory {peak:.0f} MB")
