"""Films with several genres."""
import torch
from torch import nn

torch.manual_seed(0)
plot = torch.randn(400, 16)
genres = (plot @ torch.randn(16, 6) > 2.0).float()
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 6))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for rows in torch.randperm(len(plot)).split(40):
        scores = model(plot[rows])
        loss = criterion(scores, genres[rows])  # expect: LOS014
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
