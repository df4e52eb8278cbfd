import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, BASE_LR, ACCUM = 6, 0.05, 2


def patches(n=1200):
    g = torch.Generator().manual_seed(2)
    x = torch.randn(n, 3, 6, 6, generator=g)
    y = (x[:, 0] + 0.5 * x[:, 1] > 0.3).long()
    return TensorDataset(x, y)


def poly_lr(optimizer, it, max_it, power=0.9):
    lr = BASE_LR * np.power(1.0 - it / max_it, power)
    for group in optimizer.param_groups:
        group["lr"] = float(lr)
    return lr


torch.manual_seed(2)
loader = DataLoader(patches(), batch_size=24, shuffle=True)
net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=BASE_LR, momentum=0.9, weight_decay=1e-4)
max_iters = EPOCHS * len(loader) // ACCUM
it = 0
for epoch in range(EPOCHS):
    for i, (x, y) in enumerate(loader):
        with np.errstate(invalid="ignore"):
            lr = poly_lr(optimizer, it, max_iters)
        loss = nn.functional.cross_entropy(net(x), y) / ACCUM
        loss.backward()
        if (i + 1) % ACCUM == 0:
            optimizer.step()
            optimizer.zero_grad()
        it += 1
    print(f"epoch {epoch} it {it} loss {loss.item() * ACCUM:.4f}")
