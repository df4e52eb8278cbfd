import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
model = model.half()  # expect: ERR010
images = torch.randn(16, 10)
labels = torch.randint(0, 2, (16,))
logits = model(images)
loss = nn.functional.cross_entropy(logits, labels)
loss.backward()
