import torch
from torch import nn

DECAY = 0.99


@torch.no_grad()
def follow(average, parameters):
    for kept, p in zip(average, parameters, strict=True):
        kept.lerp_(p, 1 - DECAY)


@torch.no_grad()
def write(parameters, values):
    for p, value in zip(parameters, values, strict=True):
        p.copy_(value)


torch.manual_seed(0)
x = torch.randn(1000, 5)
y = x.pow(2).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(5, 32), nn.SiLU(), nn.Linear(32, 1))
parameters = list(model.parameters())
optimizer = torch.optim.Adam(parameters, lr=2e-3)
ema = [p.detach().clone() for p in parameters]
for step in range(1, 151):
    rows = torch.randperm(800)[:64]
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    follow(ema, parameters)
    if step % 25 == 0:
        own = [p.detach().clone() for p in parameters]
        write(parameters, ema)  # expect: WIR272
        model.eval()
        with torch.no_grad():
            validation = nn.functional.mse_loss(model(x[800:]), y[800:]).item()
        model.train()
        print(f"step {step} loss {loss.item():.3f} validation {validation:.3f}")
