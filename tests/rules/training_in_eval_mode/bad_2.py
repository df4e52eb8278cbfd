"""`eval()` where the model is built, and nothing after it: BatchNorm never measures anything."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load_pretrained():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Dropout2d(0.2), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 10))
    net.eval()  # expect: WIR021
    return net


def train(net, loader, epochs=4):
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(epoch, total / len(loader))


net = load_pretrained()
y = torch.randint(0, 10, (600,))
x = torch.randn(10, 3, 8, 8)[y] + torch.randn(600, 3, 8, 8)
train(net, DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True))
