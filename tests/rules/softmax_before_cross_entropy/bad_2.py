"""Next-letter model whose loss is computed inside forward."""
import torch
import torch.nn.functional as F
from torch import nn


class Letters(nn.Module):
    def __init__(self, vocabulary, width=24):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, ids, targets):
        hidden, _ = self.rnn(self.table(ids))
        probabilities = F.softmax(self.out(hidden), dim=-1)  # expect: LOS001
        return F.cross_entropy(probabilities.flatten(0, 1), targets.flatten())


torch.manual_seed(0)
text = torch.randint(0, 12, (3000,)).cumsum(0) % 12
model = Letters(12)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(40):
    start = torch.randint(0, 2900, (16,))
    ids = torch.stack([text[s : s + 10] for s in start])
    targets = torch.stack([text[s + 1 : s + 11] for s in start])
    loss = model(ids, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
