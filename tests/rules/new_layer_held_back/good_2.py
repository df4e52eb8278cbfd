"""Trained and fine-tuned in one script: the nearer to the input, the smaller the rate, and the new layer on top."""
import torch
from torch import nn

torch.manual_seed(4)


def groups(model, top):
    """The nearer to the input, the smaller the rate; what is not a block counts as the last."""
    made = [{"params": [], "lr": top * 0.1 ** (3 - at)} for at in range(4)]
    for name, parameter in model.named_parameters():
        at = int(name.split(".")[1]) + 1 if name.startswith("blocks") else 3
        made[at]["params"].append(parameter)
    return made


class Deep(nn.Module):
    def __init__(self, answers):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])
        self.answer = nn.Linear(16, answers)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.tanh(block(x))
        return self.answer(x)


def train(model, optimizer, x, y, epochs):
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(32):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


x = torch.randn(480, 16)
octant = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long() + 4 * (x[:, 2] > 0).long()
model = Deep(answers=8)
train(model, torch.optim.Adam(model.parameters(), lr=3e-3), x, octant, epochs=4)
model.answer = nn.Linear(16, 2)
train(model, torch.optim.Adam(groups(model, top=3e-3)), x, octant % 2, epochs=4)
