import torch
from torch import nn

CONFIG = {"image": 32, "stages": [(8, 1, True), (16, 2, False)], "classes": 4}


def side_after(config):
    side = config["image"]
    for _, _, pool in config["stages"]:
        if pool:
            side //= 2  # expect: ERR002
    return side


def backbone(config):
    layers, channels = [], 3
    for width, stride, pool in config["stages"]:
        layers += [nn.Conv2d(channels, width, 3, stride=stride, padding=1), nn.ReLU()]
        layers += [nn.MaxPool2d(2)] if pool else []
        channels = width
    return nn.Sequential(*layers), channels


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.backbone, channels = backbone(config)
        flat = channels * side_after(config) ** 2
        self.head = nn.Linear(flat, config["classes"])

    def forward(self, x):
        return self.head(self.backbone(x).flatten(1))


torch.manual_seed(0)
model = Net(CONFIG)
logits = model(torch.randn(8, 3, 32, 32))
nn.functional.cross_entropy(logits, torch.randint(0, 4, (8,))).backward()
