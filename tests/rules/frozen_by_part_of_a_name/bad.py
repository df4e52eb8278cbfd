import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Tower(nn.Module):
    def __init__(self, depth=12, width=16):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = x + 0.1 * torch.tanh(block(x))
        return self.head(x)


frozen = ("embed", "blocks.0", "blocks.1")
model = Tower()
for name, parameter in model.named_parameters():
    if any(part in name for part in frozen):  # expect: WIR125
        parameter.requires_grad = False
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for step in range(40):
    x = torch.randn(32, 4)
    loss = F.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
