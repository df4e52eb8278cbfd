"""Feature selection with hard Gumbel-softmax: one-hot forward, soft backward, temperature annealed."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(2)
x = torch.randn(3000, 20)
y = torch.sin(x[:, 3]) * 2 + x[:, 11] - 0.5 * x[:, 17] ** 2
y = (y - y[:2500].mean()) / y[:2500].std()


class Selector(nn.Module):
    def __init__(self, inputs, picks):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(picks, inputs))
        self.tau = 2.0

    def forward(self, v):
        if self.training:
            gate = F.gumbel_softmax(self.logits.expand(len(v), -1, -1), tau=self.tau, hard=True)
            return torch.einsum("bpi,bi->bp", gate, v)
        return v[:, self.logits.argmax(1)]


model = nn.Sequential(Selector(20, 3), nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam([{"params": model[0].parameters(), "lr": 0.03}, {"params": model[1:].parameters(), "lr": 3e-3}])
for epoch in range(30):
    model.train()
    model[0].tau = max(0.3, 2.0 * 0.92**epoch)
    total = 0.0
    for b in torch.randperm(2500).split(100):
        loss = F.mse_loss(model(x[b]).squeeze(1), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        mse = F.mse_loss(model(x[2500:]).squeeze(1), y[2500:]).item()
    if epoch % 6 == 5:
        picked = sorted(model[0].logits.argmax(1).tolist())
        print(f"epoch {epoch + 1} tau {model[0].tau:.2f} train {total / 25:.4f} test {mse:.4f} picked {picked}")
print(f"final test mse {mse:.4f} picked {picked}")
