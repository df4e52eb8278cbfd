import math

import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, longest=100):
        super().__init__()
        at = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        pe = torch.zeros(longest, 1, width)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(at * rate), torch.cos(at * rate)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]  # expect: WIR083


class Order(nn.Module):
    def __init__(self, words=12, width=16):
        super().__init__()
        self.embed, self.positions = nn.Embedding(words, width), Positions(width)
        self.encoder = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(width, 2)

    def forward(self, ids):
        return self.out(self.encoder(self.positions(self.embed(ids))).mean(1))


torch.manual_seed(0)
ids = torch.randint(0, 12, (640, 10))
y = (ids[:, 0] > ids[:, -1]).long()
model = Order()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for batch in torch.randperm(640).split(32):
    loss = nn.functional.cross_entropy(model(ids[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
