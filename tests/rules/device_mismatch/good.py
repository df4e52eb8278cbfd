import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3)).to(device)
x = torch.randn(8, 12).to(device)
y = torch.randint(0, 3, (8,), device=device)
logits = model(x)
loss = nn.functional.cross_entropy(logits, y)
loss.backward()
