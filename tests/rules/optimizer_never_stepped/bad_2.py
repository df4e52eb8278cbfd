import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()

embed = nn.Linear(8, 16)
head = nn.Linear(16, 1)
embed_optimizer = torch.optim.Adam(embed.parameters(), lr=1e-2)
head_optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        loss = F.mse_loss(head(embed(x[idx]).tanh()), y[idx])
        embed_optimizer.zero_grad()
        head_optimizer.zero_grad()
        loss.backward()  # expect: WIR016
        head_optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
