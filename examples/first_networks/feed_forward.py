"""A first feed-forward network: digits into ten classes, or one number from eight."""

import argparse

import numpy as np
import torch
from images import tensors
from torch import nn

DIGIT_FAULTS = ["nan", "negative", "grey-target", "flatten", "numpy"]
PRICE_FAULTS = ["regression", "one-output", "constant-target", "float64", "rate"]


class Net(nn.Module):
    def __init__(self, flatten=True):
        super().__init__()
        self.flatten = nn.Flatten() if flatten else nn.Identity()
        self.fc1 = nn.Linear(784, 256)
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(self.flatten(x))))


def digit_loss(sick, scores, labels):
    if sick == "nan":
        chances = torch.exp(60 * scores) / torch.exp(60 * scores).sum(dim=1, keepdim=True)
        return -torch.log(chances[torch.arange(len(labels)), labels]).mean()
    if sick == "negative":
        chances = torch.softmax(scores, dim=1)
        return nn.functional.nll_loss(chances, labels)
    if sick == "grey-target":
        wanted = 255.0 * nn.functional.one_hot(labels, 10)  # white on black, as in the pictures
        return nn.functional.binary_cross_entropy_with_logits(scores, wanted)
    return nn.functional.cross_entropy(scores, labels)


def train_digits(sick, count, epochs):
    images, labels = tensors(count)
    if sick == "nan":
        images = (images + 1) * 127.5  # grey values as they come
    model = Net(flatten=sick != "flatten")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for rows in torch.randperm(count).split(64):
            scores = model(images[rows])
            loss = digit_loss(sick, scores, labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        hits = (model(images).argmax(dim=1) == labels).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {hits:.3f}")
    if sick == "numpy":
        np.save("scores.npy", model(images).numpy())


def houses(count, sick):
    """Eight features of a house and its price, from NumPy as from any table."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(count, 8))
    price = features @ np.arange(1, 9) / 5 + 0.1 * rng.normal(size=count)
    if sick == "constant-target":
        price = np.zeros(count)
    if sick == "float64":
        return torch.from_numpy(features), torch.from_numpy(price).unsqueeze(1)
    return torch.from_numpy(features).float(), torch.from_numpy(price).float().unsqueeze(1)


def price_loss(sick, predicted, price):
    if sick == "regression":
        return nn.functional.cross_entropy(predicted, price)
    if sick == "one-output":
        return nn.functional.cross_entropy(predicted, (price[:, 0] > 0).long() * 0)
    return nn.functional.mse_loss(predicted, price)


def train_prices(sick, epochs):
    features, price = houses(800, sick)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=3.0 if sick == "rate" else 0.03)
    for epoch in range(epochs):
        for rows in torch.randperm(800).split(50):
            loss = price_loss(sick, model(features[rows]), price[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


def train_separable(epochs):
    """Two clouds far apart: the loss truly goes to 0."""
    label = torch.arange(400) % 2
    points = torch.randn(400, 2) + 20.0 * label[:, None]
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        for rows in torch.randperm(400).split(40):
            loss = nn.functional.cross_entropy(model(points[rows]), label[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.8f}")


def train_density(epochs):
    """A density model: its loss, minus the log of a density, may be negative."""
    x = 0.05 * torch.randn(500, 1)
    mean, log_spread = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.Adam([mean, log_spread], lr=0.05)
    for epoch in range(epochs):
        for rows in torch.randperm(500).split(50):
            loss = -torch.distributions.Normal(mean, log_spread.exp()).log_prob(x[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sick", choices=["none", "prices", "separable", "density", *DIGIT_FAULTS, *PRICE_FAULTS], default="none")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="60,000 digits instead of 2,000")
    options = parser.parse_args()
    torch.manual_seed(0)
    if options.sick == "separable":
        train_separable(options.epochs)
    elif options.sick == "density":
        train_density(options.epochs)
    elif options.sick in ("prices", *PRICE_FAULTS):
        train_prices(options.sick, options.epochs)
    else:
        train_digits(options.sick, 60_000 if options.full else 2_000, options.epochs)


if __name__ == "__main__":
    main()
