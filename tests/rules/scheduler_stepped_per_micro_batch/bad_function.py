import torch
from torch import nn

STEPS, WARM_UP, ACCUMULATE = 80, 8, 2


def factor(call):
    if call < WARM_UP:
        return (call + 1) / WARM_UP
    return max(0.0, (STEPS - call) / (STEPS - WARM_UP))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
updates = micro = 0
while updates < STEPS:
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long()) / ACCUMULATE
    loss.backward()
    micro += 1
    scheduler.step()  # expect: WIR270
    if micro % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
        updates += 1
        if updates % 20 == 0:
            print(f"step {updates} loss {loss.item():.3f}")
