import torch
from torch import nn

CONFIG = {"lr": 0.1, "train_only": "head"}  # expect: ERR014


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
        self.classifier = nn.Linear(12, 3)

    def forward(self, x):
        return self.classifier(self.backbone(x))


def freeze_except(model, word):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.split(".")[0] == word)
    return model


torch.manual_seed(0)
model = freeze_except(Model(), CONFIG["train_only"])
optimizer = torch.optim.SGD(model.parameters(), lr=CONFIG["lr"])
for _ in range(2):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
