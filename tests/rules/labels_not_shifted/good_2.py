"""A sequence is squeezed into one vector and written out again: here the targets are the inputs."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
melodies = torch.randint(0, 24, (64, 12))


class Squeeze(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(24, 16)
        self.read = nn.GRU(16, 48, batch_first=True)
        self.write = nn.GRU(48, 48, batch_first=True)
        self.out = nn.Linear(48, 24)

    def forward(self, notes):
        code = self.read(self.embed(notes))[1][0]
        return self.out(self.write(code[:, None].expand(-1, notes.shape[1], -1))[0])


model = Squeeze()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(15):
    for notes in melodies.split(16):
        loss = F.cross_entropy(model(notes).transpose(1, 2), notes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
