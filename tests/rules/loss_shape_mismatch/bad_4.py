import torch
from torch import nn


class Small(nn.Module):
    """Made for pictures of 32 x 32."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2))
        self.head = nn.Linear(16 * 5 * 5, 10)

    def forward(self, x):
        x = self.features(x)
        x = x.view(-1, 16 * 5 * 5)  # expect: ERR027
        return self.head(x)


torch.manual_seed(0)
net = Small()
images, labels = torch.rand(25, 1, 28, 28), torch.randint(0, 10, (25,))
loss = nn.functional.cross_entropy(net(images), labels)
loss.backward()
