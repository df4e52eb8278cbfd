import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
EPOCHS = 8
x = torch.randn(640, 10)
loader = DataLoader(TensorDataset(x, x[:, :2].prod(1)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(EPOCHS):
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=EPOCHS * len(loader))  # expect: WIR129
    for features, target in loader:
        loss = F.mse_loss(model(features).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.5f} loss {loss.item():.3f}")
