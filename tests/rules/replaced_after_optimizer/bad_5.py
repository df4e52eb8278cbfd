"""The first layer is made when the size of the input is known: by then the optimizer has its list."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.width = width
        self.stem = None
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        if self.stem is None:
            self.stem = nn.Linear(x.shape[1], self.width)  # expect: WIR004
        return self.head(torch.tanh(self.stem(x)))


def main():
    torch.manual_seed(0)
    x = torch.randn(256, 8)
    y = (x[:, :1] * x[:, 1:2]).sin()
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        for rows in torch.randperm(256).split(32):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


main()
