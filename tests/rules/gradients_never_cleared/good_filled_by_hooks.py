"""Hooks bring every gradient over to the copy that is stepped on, in place, while backward still runs."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 10)
y = x[:, :1].abs() - x[:, 1:2]
network = nn.Sequential(nn.Linear(10, 40), nn.Tanh(), nn.Linear(40, 1))
shadows = []


def bring_over(weight, shadow):
    shadow.grad = torch.zeros_like(shadow)

    def hook(ready):
        shadow.grad.copy_(ready.grad)
        ready.grad = None

    weight.register_post_accumulate_grad_hook(hook)


for weight in network.parameters():
    shadows.append(weight.detach().double().clone().requires_grad_())
    bring_over(weight, shadows[-1])
optimizer = torch.optim.SGD(shadows, lr=0.05, momentum=0.9)
for epoch in range(6):
    for rows in torch.randperm(320).split(40):
        loss = nn.functional.mse_loss(network(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for weight, shadow in zip(network.parameters(), shadows):
                weight.copy_(shadow)
    print(f"epoch {epoch} loss {loss.item():.3f}")
