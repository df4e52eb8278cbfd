import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from engine import Engine


def sensor_windows(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(4, 32, generator=torch.Generator().manual_seed(5))
    y = torch.randint(0, 4, (n,), generator=g)
    amp = 3 + 4 * torch.rand(n, 1, generator=g)
    x = 0.3 * amp * (w[y] + 1.6 * torch.randn(n, 32, generator=g))
    return TensorDataset(x.unsqueeze(1), y)


def block(c_in, c_out):
    return [nn.Conv1d(c_in, c_out, 3, padding=1), nn.BatchNorm1d(c_out), nn.ReLU()]


def conv_net(classes=4, width=12, depth=9):
    layers = block(1, width)
    for _ in range(depth):
        layers += block(width, width)
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.2), nn.Linear(width * 32, classes))


torch.manual_seed(0)
model = conv_net()
engine = Engine(model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), nn.CrossEntropyLoss())
engine.run(
    DataLoader(sensor_windows(1500, 1), batch_size=50, shuffle=True),
    DataLoader(sensor_windows(500, 2), batch_size=100),
    epochs=5,
)
