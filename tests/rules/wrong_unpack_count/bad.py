import torch
from torch import nn


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 10, batch_first=True)
        self.out = nn.Linear(10, 1)

    def forward(self, x):
        output, h, c = self.lstm(x)  # expect: ERR025
        return self.out(h[-1])


torch.manual_seed(0)
model = Forecast()
loss = nn.functional.mse_loss(model(torch.randn(4, 12, 3)), torch.randn(4, 1))
loss.backward()
