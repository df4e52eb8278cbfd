# The width is an attribute, a norm lies between, and the loss takes one number per sample.
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, width=16 * 7 * 7):
        super().__init__()
        self.width = width
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.second = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.second(self.first(x))
        x = x.reshape((-1, self.width))  # expect: ERR027
        return self.head(self.norm(x)).squeeze(1)


torch.manual_seed(0)
net = Detector()
images, sick = torch.rand(64, 3, 56, 56), torch.randint(0, 2, (64,)).float()
optimizer = torch.optim.Adam(net.parameters())
criterion = nn.BCEWithLogitsLoss()
for rows in torch.randperm(64).split(16):
    optimizer.zero_grad()
    loss = criterion(net(images[rows]), sick[rows])
    loss.backward()
    optimizer.step()
