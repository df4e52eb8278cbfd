"""nanoGPT-style character model: tied head, -inf causal mask, accumulation over 2 micro-batches, lr 0 -> peak -> 0."""
import math

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
BLOCK, DIM, HEADS, STEPS, WARM = 24, 48, 4, 180, 18
text = "".join(f"{a}+{b}={a + b};" for a in range(30) for b in range(30))
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.out = nn.Linear(DIM, DIM)
        mask = torch.full((BLOCK, BLOCK), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(DIM // HEADS) + self.mask[:t, :t]
        return self.out((att.softmax(-1) @ v).transpose(1, 2).reshape(n, t, DIM))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.att = nn.LayerNorm(DIM), nn.LayerNorm(DIM), Attention()
        self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.mlp(self.n2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(len(chars), DIM), nn.Embedding(BLOCK, DIM)
        self.blocks, self.norm = nn.Sequential(Block(), Block()), nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, len(chars), bias=False)
        for emb in (self.tok, self.pos):
            nn.init.normal_(emb.weight, std=0.02)
        self.head.weight = self.tok.weight

    def forward(self, i, target):
        h = self.blocks(self.tok(i) + self.pos(torch.arange(i.shape[1])))
        return F.cross_entropy(self.head(self.norm(h)).flatten(0, 1), target.flatten())


def lr_at(step):
    if step < WARM:
        return 4e-3 * step / WARM
    return 2e-3 * (1 + math.cos(math.pi * (step - WARM) / (STEPS - 1 - WARM)))


model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
plain = [p for p in model.parameters() if p.dim() < 2]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}], lr=0.0)
for step in range(STEPS):
    for g in opt.param_groups:
        g["lr"] = lr_at(step)
    total = 0.0
    for _ in range(2):
        start = torch.randint(len(ids) - BLOCK - 1, (24,))
        idx = start[:, None] + torch.arange(BLOCK)
        loss = model(ids[idx], ids[idx + 1]) / 2
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad(set_to_none=True)
    if step % 30 == 0 or step == STEPS - 1:
        print(f"step {step} loss {total:.4f} lr {lr_at(step):.5f}")
print(f"final loss {total:.3f} (uniform guess {math.log(len(chars)):.3f})")
