# The reshape is the first thing that happens to pictures of another size: no graph knows of it.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(28 * 28, 64)
        self.scores = nn.Linear(64, 10)

    def forward(self, x):
        x = x.view(-1, 28 * 28)  # expect: ERR027
        return self.scores(self.hidden(x).relu())


torch.manual_seed(0)
net = Digits()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.rand(96, 1, 56, 56), torch.randint(0, 10, (96,)))
for images, labels in DataLoader(data, batch_size=32):
    scores = net(images)
    loss = nn.functional.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
