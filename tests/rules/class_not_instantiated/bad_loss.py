import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(24, 9)
y = torch.randint(0, 3, (24,))
model = nn.Sequential(nn.Linear(9, 20), nn.ELU(), nn.Linear(20, 3))
optimizer = torch.optim.NAdam(model.parameters())
for step in range(5):
    pred = model(x)
    loss = nn.CrossEntropyLoss(pred, y)  # expect: ERR045
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
