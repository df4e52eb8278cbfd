import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    order = torch.randperm(600)
    x = x[order]  # expect: DAT064
    for start in range(0, 600, 50):
        features, labels = x[start : start + 50], y[start : start + 50]
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
