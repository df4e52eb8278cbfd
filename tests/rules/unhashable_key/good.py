import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
seen = {}
for step in range(5):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    key = tuple(int(v) for v in logits.argmax(1))
    seen[key] = seen.get(key, 0) + 1
print(seen)
