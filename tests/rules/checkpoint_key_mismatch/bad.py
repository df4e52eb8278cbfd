import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
model = Tiny()
opt = torch.optim.Adam(model.parameters())
torch.save({"epoch": 4, "model_state_dict": model.state_dict(), "optimizer": opt.state_dict()}, "last.pt")
checkpoint = torch.load("last.pt")
Tiny().load_state_dict(checkpoint)  # expect: ERR052
