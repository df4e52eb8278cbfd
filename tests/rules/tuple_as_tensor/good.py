import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 12, batch_first=True)
        self.out = nn.Linear(12, 4)

    def forward(self, x):
        steps, _ = self.lstm(x)
        return self.out(steps)


torch.manual_seed(0)
model = Tagger()
scores = model(torch.randn(5, 9, 6))
nn.functional.cross_entropy(scores.flatten(0, 1), torch.randint(0, 4, (45,))).backward()
