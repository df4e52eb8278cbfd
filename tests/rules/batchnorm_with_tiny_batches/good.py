"""Two images per batch, each with hundreds of pixels: BatchNorm over pixels has values enough."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(120, 1, 12, 12)
y = (x[:, 0, :6].mean((1, 2)) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=2, shuffle=True)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 2)
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for inputs, labels in loader:
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
