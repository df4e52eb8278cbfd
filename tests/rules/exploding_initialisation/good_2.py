import torch
from torch import nn

torch.manual_seed(0)


class Tide(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.inp = nn.Linear(6, width)
        self.one = nn.Linear(width, width)
        self.two = nn.Linear(width, width)
        self.three = nn.Linear(width, width)
        self.four = nn.Linear(width, width)
        self.five = nn.Linear(width, width)
        self.six = nn.Linear(width, width)
        self.out = nn.Linear(width, 1)
        for layer in self.children():
            nn.init.kaiming_normal_(layer.weight)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        x = torch.relu(self.one(x))
        x = torch.relu(self.two(x))
        x = torch.relu(self.three(x))
        x = torch.relu(self.four(x))
        x = torch.relu(self.five(x))
        x = torch.relu(self.six(x))
        return self.out(x)


x = torch.randn(512, 6)
y = x[:, :1] - 0.5 * x[:, 1:2]
model = Tide()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(512).split(64):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3g}")
