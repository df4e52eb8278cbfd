import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()
x = torch.randn(20, 7)
sick = torch.randint(0, 2, (20,)).float()
logits = model(x)
loss = criterion(logits, sick)  # expect: ERR027
loss.backward()
