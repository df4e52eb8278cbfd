import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 64, 3, padding=1)
        self.out = nn.Linear(64, 5)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.out(x.mean((2, 3)))


torch.manual_seed(0)
model = Encoder()
logits = model(torch.randn(4, 3, 16, 16))
nn.functional.cross_entropy(logits, torch.randint(0, 5, (4,))).backward()
