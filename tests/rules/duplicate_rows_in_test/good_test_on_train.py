import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def test(net, loader):
    net.eval()
    right = total = 0
    with torch.no_grad():
        for rows, labels in loader:
            right += (net(rows).argmax(1) == labels).sum().item()
            total += len(labels)
    return right / total


def test_on(net, rows, labels):
    with torch.no_grad():
        parts = [net(rows[part]).argmax(1) == labels[part] for part in torch.randperm(len(rows)).split(60)]
    return torch.cat(parts).float().mean().item()


torch.manual_seed(0)
x = torch.randn(500, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
trainloader = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=40, shuffle=True)
testloader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=50)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(5):
    net.train()
    for rows, labels in trainloader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(rows), labels)
        loss.backward()
        optimizer.step()
    seen, unseen = test(net, trainloader), test(net, testloader)
    print(f"epoch {epoch}: seen {seen:.3f} {test_on(net, x[:400], y[:400]):.3f}, unseen {unseen:.3f}")
