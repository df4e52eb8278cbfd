"""A small transformer over patches."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(12, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0)  # expect: WIR071
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.encoder(self.embed(x)).mean(1))


model = Patches()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(40):
    x = torch.randn(24, 9, 12)
    y = x[:, 0, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
