"""One sensor per rack, chosen with hard Gumbel-softmax: one-hot forward, soft backward, temperature annealed."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(2)
x = torch.randn(3000, 20)
y = torch.sin(x[:, 3]) * 2 + x[:, 7] * x[:, 11] - x[:, 17]  # one useful sensor in each rack of five
y = (y - y[:2500].mean()) / y[:2500].std()


class Selector(nn.Module):
    def __init__(self, racks, sensors):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(racks, sensors))
        self.tau = 2.0

    def chosen(self):
        return self.logits.argmax(1)

    def forward(self, v):
        v = v.view(-1, *self.logits.shape)
        if self.training:
            gate = F.gumbel_softmax(self.logits.expand(len(v), -1, -1), tau=self.tau, hard=True)
            return torch.einsum("brs,brs->br", gate, v)
        return v[:, torch.arange(len(self.logits)), self.chosen()]


model = nn.Sequential(Selector(4, 5), nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
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
        picked = (torch.arange(4) * 5 + model[0].chosen()).tolist()
        print(f"epoch {epoch + 1} tau {model[0].tau:.2f} train {total / 25:.4f} test {mse:.4f} picked {picked}")
print(f"final test mse {mse:.4f} picked {picked}")
