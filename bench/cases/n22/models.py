from torch import nn


class ConvBlock(nn.Sequential):
    def __init__(self, c_in, c_out):
        super().__init__(
            nn.Conv2d(c_in, c_out, kernel_size=3),
            nn.BatchNorm2d(c_out),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )


class AudioCNN(nn.Module):
    def __init__(self, n_classes, bins=40, frames=50):
        super().__init__()
        self.conv = nn.Sequential(ConvBlock(1, 8), ConvBlock(8, 16))
        self.fc1 = nn.Linear(16 * (bins // 4) * (frames // 4), 32)
        self.fc2 = nn.Linear(32, n_classes)

    def forward(self, spec):
        h = self.conv(spec)
        h = h.flatten(1)
        return self.fc2(self.fc1(h).relu())
