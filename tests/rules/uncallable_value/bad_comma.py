import torch
from torch import nn

torch.manual_seed(0)


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.fc1 = nn.Linear(width, 32),  # fmt: skip # expect: ERR047
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


x = torch.randn(20, 7)
y = (x[:, 0] > 0).long()
model = Head(7, 2)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
loss = nn.functional.cross_entropy(model(x), y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
