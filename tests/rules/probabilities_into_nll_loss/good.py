"""Log-softmax before nll_loss, and a density model whose loss is negative for good reason."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
centres = torch.randn(4, 16)
y = torch.randint(0, 4, (480,))
x = centres[y] + 0.05 * torch.randn(480, 16)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4), nn.LogSoftmax(dim=1))
log_scale = nn.Parameter(torch.zeros(4, 16))
mean = nn.Parameter(centres.clone())
optimizer = torch.optim.Adam([*net.parameters(), log_scale, mean], lr=0.02)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(48):
        optimizer.zero_grad()
        density = torch.distributions.Normal(mean[y[rows]], log_scale[y[rows]].exp())
        loss = F.nll_loss(net(x[rows]), y[rows]) - density.log_prob(x[rows]).mean()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
