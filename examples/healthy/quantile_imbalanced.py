"""Two models in one file: a pinball-loss regressor whose 'bias' is intended, then a 3% positive classifier with pos_weight."""
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, roc_auc_score

torch.manual_seed(0)


def train(model, x, y, loss_fn, epochs, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for b in torch.randperm(len(x)).split(100):
            loss = loss_fn(model(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(b)
        sched.step()
        if epoch % 5 == 4:
            print(f"  epoch {epoch + 1} loss {total / len(x):.4f}")
    return model.eval()


# --- part 1: 10%, 50% and 90% quantile of heteroscedastic noise
levels = torch.tensor([0.1, 0.5, 0.9])
x = torch.empty(4000, 1).uniform_(0, 3)
y = torch.sin(x) + (0.1 + 0.3 * x) * torch.randn_like(x)


def pinball(out, target):
    err = target - out
    return torch.maximum(levels * err, (levels - 1) * err).mean()


net = train(nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 3)), x[:3000], y[:3000], pinball, 15, 5e-3)
with torch.no_grad():
    cover = (y[3000:] <= net(x[3000:])).float().mean(0)
print("share below each quantile:", [round(c, 3) for c in cover.tolist()])

# --- part 2: rare events
x = torch.randn(6000, 8)
score = 1.5 * x[:, 0] + x[:, 1] * x[:, 2] + 0.3 * torch.randn(6000)
y = (score > score.quantile(0.97)).float().unsqueeze(1)
weight = (1 - y[:4500]).sum() / y[:4500].sum()
bce = lambda out, target: F.binary_cross_entropy_with_logits(out, target, pos_weight=weight)
net = train(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1)), x[:4500], y[:4500], bce, 15, 3e-3)
with torch.no_grad():
    out = net(x[4500:]).squeeze(1).numpy()
truth = y[4500:, 0].numpy()
print(f"final ROC AUC {roc_auc_score(truth, out):.3f} average precision {average_precision_score(truth, out):.3f} "
      f"(base rate {truth.mean():.3f}), 80% band covers {(cover[2] - cover[0]):.3f}")
