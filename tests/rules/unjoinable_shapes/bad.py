import torch
from torch import nn


class SmallUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 4, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(4, 4, 2, stride=2)
        self.out = nn.Conv2d(5, 1, 1)

    def forward(self, image):
        small = torch.relu(self.down(image))
        large = self.up(small)
        joined = torch.cat([image, large], dim=1)  # expect: ERR029
        return self.out(joined)


torch.manual_seed(0)
model = SmallUNet()
mask = model(torch.randn(2, 1, 33, 33))
mask.mean().backward()
