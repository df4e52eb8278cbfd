import torch
from torch import nn
import torch.nn.functional as F


class StatsPool(nn.Module):
    def forward(self, h):
        mean = h.mean(dim=2)
        spread = torch.sqrt(h.var(dim=2))
        return torch.cat([mean, spread], dim=1)


class SpeakerNet(nn.Module):
    def __init__(self, bands=12, channels=24, speakers=6):
        super().__init__()
        self.frame = nn.Sequential(nn.Conv1d(bands, channels, 3), nn.Tanh(), nn.Conv1d(channels, channels, 3))
        self.pool = StatsPool()
        self.out = nn.Linear(2 * channels, speakers)

    def forward(self, x):
        return self.out(self.pool(self.frame(x)))


class Clips:
    def __init__(self, n=1200, frames=36, seed=4):
        g = torch.Generator().manual_seed(seed)
        self.who = torch.randint(0, 6, (n,), generator=g)
        voice = torch.randn(6, 12, generator=g)
        level = 0.5 + torch.rand(6, 1, 1, generator=g)
        self.x = voice[self.who].unsqueeze(2) * 0.5 + level[self.who] * torch.randn(n, 12, frames, generator=g)
        silent = torch.rand(n, generator=g) < 0.003
        self.x[silent] = 0.0

    def batches(self, size):
        for idx in torch.randperm(len(self.x)).split(size):
            yield self.x[idx], self.who[idx]


class Runner:
    def __init__(self):
        self.clips, self.net = Clips(), SpeakerNet()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=3e-3)

    def run(self, epochs=4):
        for epoch in range(epochs):
            for i, (x, who) in enumerate(self.clips.batches(40)):
                loss = F.cross_entropy(self.net(x), who)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                if i % 6 == 0:
                    print(f"epoch {epoch} batch {i:2d} loss {loss.item():.4f}")


torch.manual_seed(5)
Runner().run()
