import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 12)
y = (x @ torch.randn(12) > 0).float()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for rows in torch.randperm(640).split(32):
        answer = model(x[rows]).squeeze(1)
        loss = criterion(answer, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
