import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
base_lr = 0.02
x = torch.randn(256, 8)
y = x[:, :1] * 2 + x[:, 1:2]
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(
    [{"params": model[0].parameters(), "lr": base_lr / 10}, {"params": model[2].parameters()}], lr=base_lr
)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(1.0, (epoch + 1) / 50))
for epoch in range(5):
    for inputs, target in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), target)
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
