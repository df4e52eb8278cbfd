import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.embed = nn.Embedding(90, 24)
        self.mix = nn.GRU(24, 24, batch_first=True)
        self.out_norm = nn.LayerNorm(24)
        self.tagger = nn.Linear(24, tags)

    def forward(self, words):
        return self.tagger(self.out_norm(self.mix(self.embed(words))[0]))


torch.manual_seed(2)
donor = Tagger(tags=17)
torch.save(donor.state_dict(), "tagger.pt")
model = Tagger(tags=17)
model.load_state_dict(torch.load("tagger.pt"))
model.tagger = nn.Linear(24, 4)

fresh = [p for name, p in model.named_parameters() if name.startswith("tagger")]
kept = [p for name, p in model.named_parameters() if not name.startswith("tagger")]
optimizer = torch.optim.AdamW(
    [
        {"params": kept, "lr": 2e-5},
        {"params": fresh, "lr": 2e-3},
    ]
)
words = torch.randint(0, 90, (400, 12))
tags = words % 4
for epoch in range(4):
    for rows in torch.randperm(400).split(20):
        loss = nn.functional.cross_entropy(model(words[rows]).flatten(0, 1), tags[rows].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
