from torch.utils.data import DataLoader, TensorDataset
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
warm = 20
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step, warm) // (warm * 10))  # expect: TRN073
for epoch in range(8):
    for inputs, target in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), target)
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
