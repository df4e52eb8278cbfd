import copy

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 12)
        self.reader = nn.GRU(12, 12, batch_first=True)
        self.norm = nn.LayerNorm(12)
        self.out = nn.Linear(12, 4)

    def forward(self, tokens):
        return self.out(self.norm(self.reader(self.words(tokens))[0]))


torch.manual_seed(0)
tokens = torch.randint(0, 30, (200, 7))
tags = tokens % 4
model = Tagger()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(200).split(40):
        loss = nn.functional.cross_entropy(model(tokens[rows]).flatten(0, 1), tags[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")

kept = {}
for name, value in model.state_dict().items():
    if "norm" not in name:
        kept[name] = value.clone()
torch.manual_seed(7)
fresh = Tagger()
fresh.norm.weight.data.uniform_(0.5, 1.5)
state = copy.copy(fresh.state_dict())
state.update(kept)
fresh.load_state_dict(state)  # expect: WIR271
fresh.eval()
print(f"accuracy {(fresh(tokens).argmax(-1) == tags).float().mean().item():.2f}")
