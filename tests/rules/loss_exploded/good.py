"""A recurrent network with ReLU over long series, whose gradients are clipped."""

import torch
from torch import nn


class Adder(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.readout = nn.Linear(hidden, 1)
        with torch.no_grad():
            self.rnn.weight_hh_l0.copy_(torch.eye(hidden))
            self.rnn.weight_ih_l0.normal_(0, 0.05)
            self.rnn.bias_hh_l0.zero_()
            self.rnn.bias_ih_l0.zero_()

    def forward(self, x):
        return self.readout(self.rnn(x)[0][:, -1]).squeeze(1)


torch.manual_seed(0)
model = Adder()
optimizer = torch.optim.SGD(model.parameters(), lr=0.002, momentum=0.9)
for step in range(60):
    flow, gate = torch.rand(32, 80), (torch.rand(32, 80) < 0.3).float()
    loss = nn.functional.mse_loss(model(torch.stack([flow, gate], -1)), (flow * gate).sum(1) / 5)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print(loss.item())
