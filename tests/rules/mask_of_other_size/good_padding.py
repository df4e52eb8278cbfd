import torch
from torch import nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.tokens = nn.Embedding(30, width, padding_idx=0)
        self.start = nn.Parameter(torch.randn(1, 1, width))
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.out = nn.Linear(width, 4)

    def forward(self, ids):
        hidden = self.tokens(ids)
        hidden = torch.cat([self.start.expand(len(ids), -1, -1), hidden], dim=1)
        padding = torch.cat([torch.zeros(len(ids), 1, dtype=torch.bool), ids == 0], dim=1)
        hidden, _ = self.attention(hidden, hidden, hidden, key_padding_mask=padding)
        return self.out(hidden[:, 0])


ids = torch.randint(0, 30, (8, 9))
model = Tagger()
loss = nn.functional.cross_entropy(model(ids), torch.randint(0, 4, (8,)))
loss.backward()
