"""Raw sensor values in the ten thousands into tanh."""
import torch
from torch import nn

torch.manual_seed(0)
raw = 40000 + 9000 * torch.randn(600, 6)
y = ((raw[:, 0] - 40000) / 9000 * (raw[:, 1] - 40000) / 9000).unsqueeze(1)
model = nn.Sequential(
    nn.Linear(6, 32),  # expect: TRN004
    nn.Tanh(),
    nn.Linear(32, 1),
)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(6):
    for rows in torch.randperm(len(raw)).split(50):
        loss = nn.functional.mse_loss(model(raw[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
