import torch
from torch import nn
from distill import DistillLoss


def mlp(width):
    return nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 6))


def task(n, seed, flip=0.0):
    g = torch.Generator().manual_seed(seed)
    w = torch.Generator().manual_seed(123)
    x = torch.randn(n, 20, generator=g)
    h = torch.tanh(x @ torch.randn(20, 12, generator=w) * 0.4)
    y = (h @ torch.randn(12, 6, generator=w)).argmax(1)
    wrong = torch.rand(n, generator=g) < flip
    y[wrong] = torch.randint(0, 6, (int(wrong.sum()),), generator=g)
    return x, y


def accuracy(net, x, y):
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def fit_teacher(x, y, epochs=10):
    net = mlp(128)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(epochs):
        for b in torch.randperm(len(x)).split(64):
            loss = nn.functional.cross_entropy(net(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net.eval()


torch.manual_seed(0)
teacher = fit_teacher(*task(6000, 1))
x_te, y_te = task(1000, 2)
print(f"teacher accuracy {accuracy(teacher, x_te, y_te):.3f}")
x, y = task(1500, 3, flip=0.5)
student = mlp(32)
criterion = DistillLoss()
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(20):
    for b in torch.randperm(len(x)).split(50):
        with torch.no_grad():
            t_logits = teacher(x[b])
        loss = criterion(student(x[b]), t_logits, y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch:2d} distill loss {loss.item():.4f} student accuracy {accuracy(student, x_te, y_te):.3f}")
