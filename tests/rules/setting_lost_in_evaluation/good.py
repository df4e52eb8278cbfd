import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dropout_p = dropout

    def forward(self, x):
        q = k = v = x.unflatten(2, (self.heads, -1)).transpose(1, 2)
        dropout_p = self.dropout_p if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
        return mixed.transpose(1, 2).flatten(2)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.mix, self.head = nn.Embedding(30, 16), Attention(2, 0.3), nn.Linear(16, 3)

    def forward(self, tokens):
        return self.head(self.mix(self.words(tokens)).mean(1))


torch.manual_seed(0)
tokens = torch.randint(0, 30, (300, 10))
labels = (tokens.sum(1) % 3).long()
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for rows in torch.randperm(200).split(25):
        loss = F.cross_entropy(model(tokens[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(tokens[200:]).argmax(1) == labels[200:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} right {right:.3f}")
