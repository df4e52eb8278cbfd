import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


torch.manual_seed(0)
x = torch.randn(256, 16)
y = (x @ torch.randn(16, 3)).argmax(1)
model = Classifier()
for parameter in model.backbone.parameters():
    parameter.require_grad = False  # expect: WIR080
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
