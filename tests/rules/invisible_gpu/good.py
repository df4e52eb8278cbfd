import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model = nn.Linear(8, 1).to(device)
loss = model(torch.randn(4, 8, device=device)).mean()
loss.backward()
