"""Segmentation masks from images; one flag for each of the usual causes of a NaN."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CAUSES = ["none", "black-mask", "log", "division", "explosion", "vanishing"]


class Masks(Dataset):
    """Images with one bright square; the target is the square as a mask of grey values 0 to 255."""

    def __init__(self, count, black):
        generator = torch.Generator().manual_seed(1)
        self.images = 0.1 * torch.rand(count, 1, 16, 16, generator=generator)
        self.masks = torch.zeros(count, 1, 16, 16)
        for number in range(count):
            row, column = torch.randint(0, 10, (2,), generator=generator).tolist()
            self.images[number, :, row : row + 6, column : column + 6] += 0.8
            self.masks[number, :, row : row + 6, column : column + 6] = 255
        if black:
            self.masks[77] = 0  # nothing to see on this image

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        mask = self.masks[index]
        return self.images[index], mask / mask.max()


def deep(layers):
    """A stack of squashing layers: each takes away most of the gradient."""
    body = [part for _ in range(layers) for part in (nn.Linear(64, 64), nn.Sigmoid())]
    return nn.Sequential(nn.Flatten(), nn.Linear(256, 64), *body, nn.Linear(64, 256), nn.Unflatten(1, (1, 16, 16)))


def segmenter(cause):
    if cause == "vanishing":
        return deep(layers=20)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1)
    )


def loss_of(cause, logits, target):
    if cause == "log":
        surely = logits.clamp(0, 1)
        return -(target * torch.log(surely) + (1 - target) * torch.log(1 - surely + 1e-6)).mean()
    if cause == "division":
        found = (logits > 0).float()
        overlap = (found * target).sum(dim=(1, 2, 3)) / found.sum(dim=(1, 2, 3))
        weight = 2 - overlap
        each = nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none").mean(dim=(1, 2, 3))
        return (weight * each).mean()
    if cause == "explosion":
        return nn.functional.mse_loss(logits, target)
    return nn.functional.binary_cross_entropy_with_logits(logits, target)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cause", choices=CAUSES, default="none")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    torch.manual_seed(0)
    data = Masks(320, black=options.cause == "black-mask")
    loader = DataLoader(data, batch_size=16, shuffle=True)
    model = segmenter(options.cause)
    rate = 8.0 if options.cause == "explosion" else 0.05
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    for epoch in range(options.epochs):
        for images, masks in loader:
            loss = loss_of(options.cause, model(images), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
