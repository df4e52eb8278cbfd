import torch
from torch import nn

# Two views of a sample are to get the same answer: both sides are trained on purpose.
torch.manual_seed(0)
x = torch.randn(600, 8)
y = x[:, :1] * 2 - 1
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(150):
    rows = torch.randint(600, (32,))
    answer = model(x[rows])
    again = model(x[rows] + 0.1 * torch.randn(32, 8))
    loss = nn.functional.mse_loss(answer, y[rows]) + 0.1 * nn.functional.mse_loss(answer, again)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
