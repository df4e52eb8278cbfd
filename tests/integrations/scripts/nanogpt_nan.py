"""A small GPT in the style of nanoGPT with attention written out: a row of the mask has nothing to look at."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

import torchmedic

torch.manual_seed(1337)
data = torch.randint(0, 12, (64,)).repeat(40)
train_data, val_data = data[:2000], data[2000:]
block_size, batch_size, max_iters, eval_interval = 16, 8, 40, 10


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))
        self.n_head = n_head

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(self.ln_1(x)).split(c, dim=2)
        q, k, v = (part.view(b, t, self.n_head, c // self.n_head).transpose(1, 2) for part in (q, k, v))
        att = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        att = att.masked_fill(torch.ones(t, t).triu() == 1, float("-inf"))
        y = (F.softmax(att, dim=-1) @ v).transpose(1, 2).reshape(b, t, c)  # expect: NUM013
        x = x + self.c_proj(y)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab=12, n_embd=32, n_layer=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList([Block(n_embd, 2) for _ in range(n_layer)])
        self.ln_f, self.lm_head = nn.LayerNorm(n_embd), nn.Linear(n_embd, vocab, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss


def get_batch(split):
    source = train_data if split == "train" else val_data
    ix = torch.randint(len(source) - block_size, (batch_size,))
    return (torch.stack([source[i:i + block_size] for i in ix]),
            torch.stack([source[i + 1:i + 1 + block_size] for i in ix]))


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        out[split] = sum(model(*get_batch(split))[1].item() for _ in range(3)) / 3
    model.train()
    return out


def get_lr(it):
    return 1e-2 * min(1.0, (it + 1) / 10) * 0.5 * (1 + math.cos(math.pi * it / max_iters))


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
iter_num = 0
while True:
    for group in optimizer.param_groups:
        group["lr"] = get_lr(iter_num)
    if iter_num % eval_interval == 0 and iter_num:
        torchmedic.log("val_loss", estimate_loss()["val"])
    X, Y = get_batch("train")
    for micro_step in range(2):
        _, loss = model(X, Y)
        (loss / 2).backward()
        X, Y = get_batch("train")
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > max_iters:
        break
