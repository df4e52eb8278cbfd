import torch
from torch import nn


class Writer(nn.Module):
    def __init__(self, size=20, width=16):
        super().__init__()
        self.table = nn.Embedding(size, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, size)
        self.state = None

    def forward(self, ids):
        steps, self.state = self.rnn(self.table(ids), self.state)  # expect: ERR015
        return self.out(steps)


torch.manual_seed(0)
text = torch.randint(0, 20, (4, 61))
model = Writer()
optimizer = torch.optim.Adam(model.parameters())
for start in range(0, 60, 20):
    ids, following = text[:, start : start + 20], text[:, start + 1 : start + 21]
    loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), following.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
