import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, 0] - 2 * x[:, 1]
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.05)
for epoch in range(3):
    for idx in torch.randperm(256).split(32):
        loss = nn.functional.mse_loss(model(x[idx]).squeeze(1), y[idx])
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
