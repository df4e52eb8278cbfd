"""A classifier is adapted to data without labels by making it surer of its answers: low entropy is the aim."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
x = torch.randn(400, 8)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(150):
    rows = torch.randint(0, 400, (50,))
    scores = model(x[rows])
    loss = nn.functional.cross_entropy(scores, y[rows]) + 0.3 * Categorical(logits=scores).entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
