import io

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(12, 24)
        self.head = nn.Linear(24, 4)

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x)))


def pretraining_optimizer(model):
    groups = [
        {"params": model.encoder.parameters(), "lr": 1e-3},
        {"params": model.head.parameters(), "lr": 1e-2},
    ]
    return torch.optim.Adam(groups)


def finetuning_optimizer(model, rates):
    parts = {"head": [], "encoder": []}  # expect: ERR068
    for name, parameter in model.named_parameters():
        parts[name.partition(".")[0]].append(parameter)
    groups = [{"params": parts[part], "lr": rates[part]} for part in parts]
    return torch.optim.Adam(groups)


def train(model, optimizer, steps):
    for _ in range(steps):
        x = torch.randn(32, 12)
        loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
model = Tagger()
optimizer = pretraining_optimizer(model)
train(model, optimizer, 5)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)

file.seek(0)
checkpoint = torch.load(file)
resumed = Tagger()
resumed.load_state_dict(checkpoint["model"])
optimizer = finetuning_optimizer(resumed, {"head": 1e-2, "encoder": 1e-4})
optimizer.load_state_dict(checkpoint["optimizer"])
train(resumed, optimizer, 5)
