"""All rows in every step: gradients of neighbouring steps are alike to the end, but there is nothing left of them."""
import torch
from torch import nn

torch.manual_seed(0)
dose = torch.linspace(-2, 2, 200).unsqueeze(1)
answer = 0.5 * dose + 0.8 * torch.randn(200, 1)
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=100, gamma=0.1)
for step in range(500):
    loss = nn.functional.mse_loss(model(dose), answer)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
print(f"loss {loss.item():.4f}")
