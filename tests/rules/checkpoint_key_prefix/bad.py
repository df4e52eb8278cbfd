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
torch.save(nn.DataParallel(Tiny()).state_dict(), "tiny.pt")
model = Tiny()
model.load_state_dict(torch.load("tiny.pt"))  # expect: ERR051
print(model(torch.randn(2, 4)))
