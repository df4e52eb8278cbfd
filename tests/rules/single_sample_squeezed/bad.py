"""Classes of pictures: 97 of them, in batches of 16."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.features(x).squeeze()  # expect: ERR093
        return self.head(x)


torch.manual_seed(0)
data = TensorDataset(torch.randn(97, 3, 8, 8), torch.randint(0, 4, (97,)))
net = Net()
optimizer = torch.optim.Adam(net.parameters())
for images, labels in DataLoader(data, batch_size=16, shuffle=True):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(images), labels)
    loss.backward()
    optimizer.step()
