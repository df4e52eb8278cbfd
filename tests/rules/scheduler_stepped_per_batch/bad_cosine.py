import torch
import torch.nn.functional as F
from torch import nn

EPOCHS = 9
torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
for epoch in range(EPOCHS):
    for rows in torch.randperm(600).split(20):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        scheduler.step()  # expect: WIR023
    print(f"epoch {epoch} loss {loss.item():.3f}")
