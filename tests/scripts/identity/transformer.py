"""A transformer with a causal mask of infinities, tied weights, checkpointing and two optimizers."""

import torch
from digest import show
from torch import nn
from torch.utils.checkpoint import checkpoint


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(16, 2, 32, batch_first=True) for _ in range(2)])
        self.head = nn.Linear(16, 30, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        x = self.embed(tokens)
        for layer in self.layers:
            x = checkpoint(layer, x, mask, use_reentrant=False)
        return self.head(x)


torch.manual_seed(4)
model = Tiny()
optimizers = [torch.optim.Adam(model.layers.parameters()), torch.optim.SGD(model.embed.parameters(), lr=0.1)]
losses = []
for _ in range(12):
    tokens = torch.randint(0, 30, (4, 10))
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    losses.append(loss)
show(losses, model)
