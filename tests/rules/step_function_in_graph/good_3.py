import torch
from torch import nn
import torch.nn.functional as F


def fake_quant(w, bits=4):
    """Symmetric quantisation with a straight-through gradient."""
    top = 2 ** (bits - 1) - 1
    scale = w.detach().abs().max() / top
    q = torch.round(w / scale).clamp(-top, top) * scale
    return w + (q - w).detach()


class QuantLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, fake_quant(self.weight), self.bias)


torch.manual_seed(0)
model = nn.Sequential(QuantLinear(12, 32), nn.ReLU(), QuantLinear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for step in range(40):
    x = torch.randn(64, 12)
    label = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    loss = F.cross_entropy(model(x), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
