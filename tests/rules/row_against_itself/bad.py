import torch
import torch.nn.functional as F
from torch import nn


def contrast(first, second, temperature=0.2):
    z = F.normalize(torch.cat([first, second]), dim=1)
    similarity = z @ z.t() / temperature  # expect: LOS142
    target = torch.arange(len(z)).roll(len(first))
    return F.cross_entropy(similarity, target)


torch.manual_seed(0)
x = torch.randn(5, 16)[torch.randint(0, 5, (640,))] + 0.3 * torch.randn(640, 16)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for rows in torch.randperm(640).split(64):
        first, second = (model(x[rows] + 0.2 * torch.randn(64, 16)) for _ in range(2))
        loss = contrast(first, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
