import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.score = nn.Linear(size, 1)

    def forward(self, words, is_padding):
        scores = self.score(words).squeeze(-1).masked_fill(is_padding, float("-inf"))
        weights = torch.softmax(scores, dim=1)
        return (weights.unsqueeze(-1) * words).sum(1)


torch.manual_seed(10)
words = torch.randn(20, 7, 8)
lengths = torch.randint(1, 8, (20,))
is_padding = torch.arange(7)[None] >= lengths[:, None]
target = torch.randn(20, 8)
net = Pool(8)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    loss = (net(words, is_padding) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
