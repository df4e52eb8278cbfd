"""A first LSTM: which of three rhythms does a noisy sequence have?"""

import argparse

import torch
from torch import nn


class Listener(nn.Module):
    def __init__(self, sick):
        super().__init__()
        self.sick = sick
        self.lstm = nn.LSTM(input_size=1, hidden_size=24, batch_first=True)
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        if self.sick == "three-values":
            output, hidden, cell = self.lstm(x)
        elif self.sick == "tuple":
            output = self.lstm(x)
        else:
            output, (hidden, cell) = self.lstm(x)
        return self.head(output[:, -1])


def rhythms(count, length):
    label = torch.randint(3, (count,))
    period = torch.tensor([4.0, 7.0, 12.0])[label][:, None]
    time = torch.arange(length)[None, :] + 12 * torch.rand(count, 1)
    return (torch.sin(2 * torch.pi * time / period) + 0.1 * torch.randn(count, length))[..., None], label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sick", choices=["none", "three-values", "tuple"], default="none")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--full", action="store_true", help="50,000 sequences instead of 600")
    options = parser.parse_args()
    torch.manual_seed(0)
    count = 50_000 if options.full else 600
    x, label = rhythms(count, length=30)
    model = Listener(options.sick)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(options.epochs):
        for rows in torch.randperm(count).split(50):
            loss = nn.functional.cross_entropy(model(x[rows]), label[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        hits = (model(x).argmax(dim=1) == label).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {hits:.3f}")


if __name__ == "__main__":
    main()
