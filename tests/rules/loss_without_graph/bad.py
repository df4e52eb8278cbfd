import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(40, 6)
y = torch.randint(0, 3, (40,))
for epoch in range(3):
    scores = model(x)
    guess = scores.argmax(dim=1).float()  # expect: ERR014
    loss = nn.functional.mse_loss(guess, y.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
