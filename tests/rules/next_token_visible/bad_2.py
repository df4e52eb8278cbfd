"""A word model with a recurrent net."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
text = torch.randint(0, 50, (64, 21))


class WordModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 24)
        self.rnn = nn.GRU(24, 32, batch_first=True, bidirectional=True)  # expect: LOS040
        self.out = nn.Linear(64, 50)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


model = WordModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(12):
    for chunk in text.split(16):
        logits = model(chunk[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), chunk[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
