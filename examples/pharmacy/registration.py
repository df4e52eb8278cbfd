"""8501: the loss does not fall, or jumps after a checkpoint: weights that hang on a module without being registered."""

import argparse

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.into = nn.Linear(12, 24)
        self.out = nn.Linear(24, 1)
        if fault == "tensor":
            self.gain = torch.randn(24, requires_grad=True)
        elif fault == "list":
            self.blocks = [nn.Linear(24, 24) for _ in range(2)]
        elif fault == "dict":
            self.heads = {"near": nn.Linear(24, 24), "far": nn.Linear(24, 24)}
        elif fault == "throwaway":
            self.mixing = nn.Linear(24, 24).weight.data
        else:
            self.blocks = nn.ModuleList(nn.Linear(24, 24) for _ in range(2))

    def forward(self, x):
        x = torch.tanh(self.into(x))
        if self.fault == "tensor":
            x = x * self.gain
        elif self.fault == "dict":
            x = torch.tanh(self.heads["near"](x)) + torch.tanh(self.heads["far"](x))
        elif self.fault == "throwaway":
            x = torch.tanh(nn.functional.linear(x, self.mixing))
        else:
            for block in self.blocks:
                x = torch.tanh(block(x))
        return self.out(x)


def train(model, x, y, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(50):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


class Renamed(nn.Module):
    """The same network after a clean-up: its layers have new names."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(12, 24)
        self.blocks = nn.ModuleList(nn.Linear(24, 24) for _ in range(2))
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        x = torch.tanh(self.stem(x))
        for block in self.blocks:
            x = torch.tanh(block(x))
        return self.out(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["none", "tensor", "list", "dict", "throwaway", "checkpoint"], default="none")
    options = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(500, 12)
    y = (x[:, :1] * x[:, 1:2]).tanh() + 0.05 * torch.randn(500, 1)
    model = Net(options.fault)
    print(f"loss {train(model, x, y, epochs=8):.4f}")
    torch.save(model.state_dict(), "net.pt")

    again = Renamed() if options.fault == "checkpoint" else Net(options.fault)
    again.load_state_dict(torch.load("net.pt"), strict=options.fault != "checkpoint")
    print(f"loss after loading {nn.functional.mse_loss(again(x), y).item():.4f}")
    print(f"trained on: {train(again, x, y, epochs=4):.4f}")


if __name__ == "__main__":
    main()
