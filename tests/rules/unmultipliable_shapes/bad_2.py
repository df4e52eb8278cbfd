import torch
from torch import nn


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(8 * 14 * 14, 10),  # expect: ERR002
        )

    def forward(self, x):
        return self.head(self.features(x))


torch.manual_seed(0)
model = SmallCNN()
logits = model(torch.randn(16, 1, 28, 28))
nn.functional.cross_entropy(logits, torch.randint(0, 10, (16,))).backward()
