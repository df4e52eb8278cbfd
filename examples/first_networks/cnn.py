"""A first convolutional network on 28 x 28 images, fed by a Dataset with transforms and a DataLoader."""

import argparse

import numpy as np
import torch
from images import digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ToTensor:
    """From a grey image of bytes to a float tensor with a channel."""

    def __call__(self, image):
        return torch.from_numpy(np.array(image))[None].float() / 255


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, image):
        return (image - self.mean) / self.std


class Compose:
    """Transforms one after another."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class Scans(Dataset):
    def __init__(self, images, labels, transform, broken=()):
        self.images, self.labels, self.transform = images, labels, transform
        self.files = [f"scan_{number:05d}.pgm" for number in range(len(images))]
        self.broken = set(broken)

    def __len__(self):
        return len(self.images)

    def load(self, index):
        """The bytes of one file; a file that was cut off while copying has fewer."""
        data = self.images[index].tobytes()
        return data[:500] if index in self.broken else data

    def __getitem__(self, index):
        image = np.frombuffer(self.load(index), dtype=np.uint8).reshape(28, 28)
        return self.transform(image), int(self.labels[index])


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.head = nn.Linear(16 * 7 * 7, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sick", choices=["none", "totensor", "worker"], default="none")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--full", action="store_true", help="60,000 images instead of 1,000")
    options = parser.parse_args()
    torch.manual_seed(0)
    images, labels = digits(60_000 if options.full else 1_000)
    if options.sick == "totensor":
        transform = Compose([ToTensor, Normalize(0.2, 0.35)])
    else:
        transform = Compose([ToTensor(), Normalize(0.2, 0.35)])
    data = Scans(images, labels, transform, broken=[613] if options.sick == "worker" else [])
    workers = 2 if options.sick == "worker" else options.workers
    loader = DataLoader(data, batch_size=50, shuffle=True, num_workers=workers)
    model = Cnn()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(options.epochs):
        hits = 0
        for x, y in loader:
            scores = model(x)
            loss = nn.functional.cross_entropy(scores, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += (scores.argmax(dim=1) == y).sum().item()
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {hits / len(data):.3f}")


if __name__ == "__main__":
    main()
