"""Monte-Carlo dropout: after model.eval() the Dropout modules alone are put back to train mode, on purpose."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


def target(v):
    return torch.sin(2 * v) + 0.3 * v


x = torch.empty(600, 1).uniform_(-2, 2)
y = target(x) + 0.1 * torch.randn_like(x)
x_in = torch.linspace(-1.8, 1.8, 100).unsqueeze(1)
x_out = torch.linspace(4, 6, 100).unsqueeze(1)

model = nn.Sequential(
    nn.Linear(1, 128), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 1),
)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=8)


def monte_carlo(net, v, passes=40):
    was_training = net.training
    net.eval()
    for m in net.modules():
        if isinstance(m, nn.Dropout):
            m.train()
    with torch.no_grad():
        draws = torch.stack([net(v) for _ in range(passes)])
    net.train(was_training)
    return draws.mean(0), draws.std(0)


for epoch in range(60):
    model.train()
    total = 0.0
    for b in torch.randperm(500).split(50):
        loss = F.mse_loss(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        val = F.mse_loss(model(x[500:]), y[500:]).item()
    sched.step(val)
    if epoch % 12 == 11:
        print(f"epoch {epoch + 1} train {total / 10:.4f} val {val:.4f} lr {opt.param_groups[0]['lr']:.5f}")

mean, spread_in = monte_carlo(model, x_in)
_, spread_out = monte_carlo(model, x_out)
rmse = (mean - target(x_in)).square().mean().sqrt().item()
print(f"final rmse {rmse:.3f} spread inside {spread_in.mean():.3f} outside {spread_out.mean():.3f}")
