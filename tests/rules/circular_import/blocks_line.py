from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        from model_line import WIDTH

        self.inner = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + self.inner(x).relu()
