"""A causal model of melodies."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
melodies = torch.randint(0, 24, (64, 18))


class Melody(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(24, 16)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, 24)

    def forward(self, notes):
        return self.out(self.rnn(self.embed(notes))[0])


model = Melody()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(15):
    for notes in melodies.split(16):
        logits = model(notes)
        loss = F.cross_entropy(logits.reshape(-1, 24), notes.reshape(-1))  # expect: LOS042
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
