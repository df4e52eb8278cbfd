import torch
from torch import nn

CONFIG = {"channels": 16, "classes": 5, "norm": "batch"}


class Stem(nn.Module):
    def __init__(self, channels, norm="none"):
        super().__init__()
        self.conv = nn.Conv2d(3, channels, 3, padding=1)
        if norm == "batch":
            self.norm = nn.BatchNorm2d(channels)
        elif norm == "group":
            self.norm = nn.GroupNorm(4, channels)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


def run(config):
    stem = Stem(config["channels"], config.get("norm_type", "none"))  # expect: ERR043
    head = nn.Linear(config["channels"], config["classes"])
    x, y = torch.randn(8, 3, 12, 12), torch.randint(0, 5, (8,))
    loss = nn.functional.cross_entropy(head(stem(x).mean((2, 3))), y)
    loss.backward()


run(CONFIG)
