import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 32), nn.ReLU())
        self.fc = nn.Linear(32, 4)

    def forward(self, x):
        return self.fc(self.body(x))


def freeze_for_transfer(model):
    for param in model.parameters():
        param.requires_grad = False
    model.fc.requires_grad = True  # expect: WIR080
    return model


model = freeze_for_transfer(Net())
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x, y = torch.randn(64, 20), torch.randint(0, 4, (64,))
loss = nn.functional.cross_entropy(model(x), y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
