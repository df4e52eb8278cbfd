"""Two blocks, four views in each: more than a step has room for."""
import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.queries, self.keys, self.values = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, d = x.shape
        q = self.queries(x).view(b, self.heads, t, d // self.heads)  # expect: WIR070
        k = self.keys(x).view(b, self.heads, t, d // self.heads)
        v = self.values(x).view(b, self.heads, t, d // self.heads)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        return x + self.out(mixed.reshape(b, t, d))


model = nn.Sequential(nn.Linear(3, 16), Attention(16, 4), Attention(16, 4), Attention(16, 4), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    x = torch.randn(12, 10, 3)
    loss = nn.functional.mse_loss(model(x)[:, -1, 0], x[:, 0, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
