import math
import torch
from torch import nn


class TinyAttention(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads, self.hd = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, keep):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, self.hd).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.hd)
        bias = (1.0 - keep[:, None, None, :].to(scores.dtype)) * -1e9
        weights = torch.softmax(scores + bias, dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, t, d))


class Tagger(nn.Module):
    def __init__(self, vocab=60, dim=32, tags=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.attn = TinyAttention(dim)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, tags)

    def forward(self, ids, keep):
        x = self.emb(ids)
        return self.out(self.norm(x + self.attn(x, keep)))


def stream(steps, batch=24, t=10):
    g = torch.Generator().manual_seed(31)
    for _ in range(steps):
        n = (torch.rand(batch, generator=g) * 1.002 * t).round().long()
        ids = torch.randint(1, 60, (batch, t), generator=g)
        keep = torch.arange(t)[None] < n[:, None]
        ids = ids * keep
        yield ids, keep, torch.where(keep, ids % 4, -100)


torch.manual_seed(0)
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step, (ids, keep, tags) in enumerate(stream(150)):
    with torch.autocast("cpu", dtype=torch.float16):
        logits = model(ids, keep)
    loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), tags.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print("step", step, "loss", round(loss.item(), 4))
