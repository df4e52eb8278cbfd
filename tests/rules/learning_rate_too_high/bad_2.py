"""A rate for a batch of 256, multiplied by the batch and divided by nothing: it learns all the same, restlessly."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {"base_lr": 2e-3, "batch": 64, "epochs": 4}


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 6)

    def forward(self, x):
        return self.head(self.body(x))


def scaled(config):
    return config["base_lr"] * config["batch"]  # expect: TRN001


torch.manual_seed(0)
torch.set_default_dtype(torch.float64)  # so that the numbers do not hang on the processor
x = torch.randn(2560, 32)
y = (x @ torch.randn(32, 6) + torch.randn(2560, 6)).argmax(1)
loader = DataLoader(TensorDataset(x, y), CONFIG["batch"], shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=scaled(CONFIG))
for epoch in range(CONFIG["epochs"]):
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
