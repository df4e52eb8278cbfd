"""First the head alone, then the whole network."""
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


def freeze(model):
    for parameter in model.backbone.parameters():
        parameter.requires_grad = False


def unfreeze(model):
    model.backbone.requires_grad = True  # expect: WIR073


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
weights = torch.randn(10, 3)
for epoch in range(4):
    if epoch == 1:
        freeze(model)
    if epoch == 3:
        unfreeze(model)
    for _ in range(30):
        x = torch.randn(32, 10)
        loss = F.cross_entropy(model(x), (x @ weights).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
