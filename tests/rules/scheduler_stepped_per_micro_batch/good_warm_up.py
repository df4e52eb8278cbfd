import torch
from torch import nn

UPDATES, ACCUMULATE = 60, 4
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
# A quarter of the run to warm up, in micro-batches: as many as there are updates, by chance.
warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=UPDATES)
for micro in range(1, UPDATES * ACCUMULATE + 1):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long()) / ACCUMULATE
    loss.backward()
    if micro % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
    warm_up.step()
    if micro % 60 == 0:
        print(f"batch {micro} loss {loss.item():.3f}")
