"""A network with a layer in a plain list, whose owner follows it in the tracker named on the command line, in a folder named there too."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :3].argmax(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inlet, self.outlet = nn.Linear(8, 32), nn.Linear(32, 3)
        self.blocks = [nn.Linear(32, 32)]

    def forward(self, x):
        x = torch.relu(self.inlet(x))
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.outlet(x)


def logger(tracker, folder):
    if tracker == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(folder)
        return lambda numbers, epoch: [writer.add_scalar(name, value, epoch) for name, value in numbers.items()]
    if tracker == "wandb":
        import os

        import wandb

        os.makedirs(folder)
        wandb.init(project="tracked", mode="offline", dir=folder, settings=wandb.Settings(silent=True))
        return lambda numbers, epoch: wandb.log(numbers, step=epoch)
    if tracker == "mlflow":
        import mlflow

        mlflow.set_tracking_uri(f"file:{folder}")
        mlflow.start_run()
        return lambda numbers, epoch: mlflow.log_metrics(numbers, step=epoch)
    if tracker == "trackio":
        import trackio

        trackio.init(project="tracked")
        return lambda numbers, epoch: trackio.log(numbers)
    import swanlab

    swanlab.init(project="tracked", mode="offline", logdir=folder)
    return lambda numbers, epoch: swanlab.log(numbers, step=epoch)


log = logger(sys.argv[1], sys.argv[2])
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for i in range(0, 192, 32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[i:i + 32]), y[i:i + 32])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = model(x[192:])
        accuracy = (out.argmax(1) == y[192:]).float().mean().item()
    log({"val/accuracy": accuracy, "lr": 1e-2}, epoch)
