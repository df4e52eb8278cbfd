"""Strong decay that shrinks the weights and leaves what is needed."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 4)

    def forward(self, x):
        return self.head(self.body(x))


def make_optimizer(model, lr=0.05):
    return torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=0.02)


torch.manual_seed(0)
x = torch.randn(960, 16)
y = (x @ torch.randn(16, 4)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = Net()
optimizer = make_optimizer(model)
for epoch in range(4):
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
