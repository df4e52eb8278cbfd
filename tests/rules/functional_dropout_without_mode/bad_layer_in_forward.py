import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 32)
        self.last = nn.Linear(32, 2)

    def forward(self, x):
        x = F.relu(self.first(x))
        x = nn.Dropout(p=0.5)(x)  # expect: WIR022
        return self.last(x)


def test(net, loader):
    net.eval()
    right = 0
    with torch.no_grad():
        for rows, labels in loader:
            right += (net(rows).argmax(1) == labels).sum().item()
    return right / len(loader.dataset)


torch.manual_seed(0)
x = torch.randn(500, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
trainloader = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=40, shuffle=True)
testloader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=50)
net = Classifier()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(5):
    net.train()
    for rows, labels in trainloader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(rows), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: seen {test(net, trainloader):.3f}, unseen {test(net, testloader):.3f}")
