import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
device = "cpu"
rows = [{"image": torch.randn(4), "label": i % 2} for i in range(32)]
loader = DataLoader(rows, batch_size=8)
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i, (images, labels) in enumerate(loader):  # expect: ERR101
    images, labels = images.to(device), labels.to(device)
    loss = nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
