"""An average that is the model under another name."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(1000, 10)
y = (x[:, 0] * x[:, 1] + 0.5 * x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 2))
ema_model = model  # expect: WIR055
DECAY = 0.99
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(800).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for ema, new in zip(ema_model.parameters(), model.parameters()):
                ema.mul_(DECAY).add_(new, alpha=1 - DECAY)
    with torch.no_grad():
        hits = (ema_model(x[800:]).argmax(1) == y[800:]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy of the average {hits:.3f}")
