# Iterators that are kept over epochs and never used up, or begun anew when they are.
import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def forever(x, y, size):
    while True:
        rows = torch.randint(0, len(x), (size,))
        yield x[rows], y[rows]


torch.manual_seed(0)
x = torch.randn(256, 16)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
test = DataLoader(TensorDataset(x + 1, y), batch_size=32, num_workers=1, persistent_workers=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
stream = forever(x, y, 32)
extra = iter(loader)
for epoch in range(6):
    for features, labels in itertools.islice(stream, 8):
        try:
            others, answers = next(extra)
        except StopIteration:
            extra = iter(loader)
            others, answers = next(extra)
        loss = nn.functional.cross_entropy(model(torch.cat([features, others])), torch.cat([labels, answers]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = sum(int((model(a).argmax(1) == b).sum()) for a, b in test)
    print(f"epoch {epoch} loss {loss.item():.3f} hits {hits}")
