"""Adversarial training and two players, all through one helper that calls `backward`: nothing is lost."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 2)
y = (x[:, 0] * x[:, 1] > 0).long()


def backward(loss, model):
    model.zero_grad()
    loss.backward()


def attacked(model, inputs, labels, steps=3, size=0.05):
    delta = torch.zeros_like(inputs, requires_grad=True)
    for _ in range(steps):
        backward(nn.functional.cross_entropy(model(inputs + delta), labels), model)
        with torch.no_grad():
            delta += size * delta.grad.sign()
        delta.grad = None
    return (inputs + delta).detach()


robust = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(robust.parameters(), lr=1e-2)
for epoch in range(3):
    for idx in torch.randperm(512).split(64):
        loss = nn.functional.cross_entropy(robust(attacked(robust, x[idx], y[idx])), y[idx])
        backward(loss, robust)
        optimizer.step()
    print(f"epoch {epoch} robust loss {loss.item():.3f}")

generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3)
c_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(20):
    fake = generator(torch.randn(64, 4))
    scores = critic(fake.detach()).mean() - critic(x[:64]).mean()
    backward(scores + fake.detach().pow(2).mean(), critic)
    c_opt.step()
    backward(-critic(fake).mean(), generator)
    g_opt.step()
print(f"critic {scores.item():.3f}")
