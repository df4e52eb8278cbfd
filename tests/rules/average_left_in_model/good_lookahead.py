import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(1000, 5)
y = x.pow(2).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(5, 32), nn.SiLU(), nn.Linear(32, 1))
parameters = list(model.parameters())
optimizer = torch.optim.Adam(parameters, lr=2e-3)
slow = [p.detach().clone() for p in parameters]
for step in range(1, 151):
    rows = torch.randperm(800)[:64]
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        # Every few steps the fast weights begin anew from the slow ones, which is what the method is.
        with torch.no_grad():
            for kept, p in zip(slow, parameters, strict=True):
                kept.lerp_(p, 0.5)
                p.copy_(kept)
    if step % 25 == 0:
        model.eval()
        with torch.no_grad():
            print(f"step {step} validation {nn.functional.mse_loss(model(x[800:]), y[800:]).item():.3f}")
        model.train()
