import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Stage(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, c_out)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class CheckpointedNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.stage1 = Stage(1, 4)
        self.stage2 = Stage(4, 8)
        self.stage3 = Stage(8, 16)
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        x = checkpoint(self.stage1, x, use_reentrant=True)
        x = checkpoint(self.stage2, x, use_reentrant=True)
        x = self.stage3(x)
        return self.fc(x.mean((2, 3)))


def gratings(n, seed, size=16):
    """four orientations of a noisy stripe pattern with random phase"""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    theta = y * torch.pi / 4
    phase = torch.rand(n, generator=g) * 6.28
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    arg = 1.9 * (theta.cos()[:, None, None] * xx + theta.sin()[:, None, None] * yy) + phase[:, None, None]
    return (arg.sin() + 1.2 * torch.randn(n, size, size, generator=g)).unsqueeze(1), y


def main():
    torch.manual_seed(0)
    x, y = gratings(1200, 1)
    x_val, y_val = gratings(400, 2)
    model = CheckpointedNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(6):
        for idx in torch.randperm(len(x)).split(60):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            acc = (model(x_val).argmax(1) == y_val).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")


main()
