"""A character model of its own text, with attention written by hand."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
text = torch.randint(0, 30, (4000,))


class Block(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.mix = nn.Linear(width, width)
        self.register_buffer("hidden", torch.ones(length, length).triu(2).bool())  # expect: LOS040

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(self.hidden, float("-inf"))
        return x + self.mix(scores.softmax(-1) @ v)


class CharModel(nn.Module):
    def __init__(self, length=24, width=32):
        super().__init__()
        self.tokens = nn.Embedding(30, width)
        self.places = nn.Embedding(length, width)
        self.block = Block(width, length)
        self.out = nn.Linear(width, 30)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        return self.out(self.block(x))


model = CharModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(50):
    at = torch.randint(0, 3900, (16,))
    chunk = torch.stack([text[i : i + 25] for i in at.tolist()])
    logits = model(chunk[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 30), chunk[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
