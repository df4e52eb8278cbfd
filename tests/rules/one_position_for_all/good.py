import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, longest=64, size=16):
        super().__init__()
        self.tokens = nn.Embedding(20, size)
        self.places = nn.Parameter(0.1 * torch.randn(1, longest, size))
        self.layer = nn.TransformerEncoderLayer(size, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(size, 2)

    def forward(self, tokens):
        x = self.tokens(tokens)
        x = x + self.places[:, : x.size(1)]
        return self.head(self.layer(x))


torch.manual_seed(0)
tokens = torch.randint(20, (400, 12))
first = (torch.arange(12) < 4).long().expand(400, 12)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(400).split(40):
        loss = nn.functional.cross_entropy(model(tokens[rows]).flatten(0, 1), first[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
