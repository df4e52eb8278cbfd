import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 16)
y = (x @ torch.randn(16, 3)).argmax(1)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    if step == 20:
        optimizer.lr = 0.01  # expect: WIR080
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
