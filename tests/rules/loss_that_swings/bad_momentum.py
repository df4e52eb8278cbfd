"""Momentum 0.98: updates roll through the valley and up the other side for dozens of steps."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
profile = torch.randn(1600, 10)
yield_ = torch.tanh(profile @ torch.randn(10, 1)) + 0.5 * profile[:, :1]
loader = DataLoader(TensorDataset(profile, yield_), batch_size=64, shuffle=True)

model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.98)  # expect: TRN071
for epoch in range(30):
    total = 0.0
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
