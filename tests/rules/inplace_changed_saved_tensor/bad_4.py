import torch
from torch import nn


def block(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, outputs),
        nn.Tanh(),
        nn.LeakyReLU(0.1, inplace=True),  # expect: ERR012
    )


class Encoder(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.blocks = nn.ModuleList(block(a, b) for a, b in zip(sizes, sizes[1:], strict=False))
        self.head = nn.Linear(sizes[-1], 1)

    def forward(self, x):
        for layer in self.blocks:
            x = layer(x)
        return self.head(x)


torch.manual_seed(0)
model = Encoder([6, 12, 12])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(8, 6)
    loss = nn.functional.mse_loss(model(x).squeeze(-1), x.sum(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
