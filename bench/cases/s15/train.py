import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from engine import Engine


def sensor_windows(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(4, 32, generator=torch.Generator().manual_seed(5))
    y = torch.randint(0, 4, (n,), generator=g)
    amp = 3 + 4 * torch.rand(n, 1, generator=g)
    x = 6 + 0.5 * amp * (w[y] + 1.6 * torch.randn(n, 32, generator=g))
    return TensorDataset(x.unsqueeze(1), y)


def conv_net(classes=4):
    return nn.Sequential(
        nn.Conv1d(1, 16, 5, padding=2), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
        nn.Conv1d(16, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(),
        nn.Flatten(), nn.Dropout(0.5), nn.Linear(32 * 16, classes),
    )


torch.manual_seed(0)
model = conv_net()
engine = Engine(model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), nn.CrossEntropyLoss())
engine.run(
    DataLoader(sensor_windows(1500, 1), batch_size=50, shuffle=True),
    DataLoader(sensor_windows(500, 2), batch_size=100),
    epochs=5,
)
