"""Flips for the image and for its mask from one object that draws anew at each call; noise goes to the image alone."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RandomFlip:
    def __call__(self, picture):
        if random.random() < 0.5:
            picture = torch.flip(picture, [-1])
        if random.random() < 0.5:
            picture = torch.flip(picture, [-2])
        return picture


class Noise:
    def __call__(self, picture):
        return picture + 0.05 * torch.randn_like(picture)


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, picture):
        for step in self.steps:
            picture = step(picture)
        return picture


class Cells(Dataset):
    def __init__(self, count, image_transform, mask_transform):
        self.masks = torch.zeros(count, 1, 16, 16)
        for mask in self.masks:
            top, left = torch.randint(0, 10, (2,)).tolist()
            mask[:, top : top + 5, left : left + 4] = 1
        self.images = self.masks + 0.4 * torch.randn(count, 1, 16, 16)
        self.image_transform, self.mask_transform = image_transform, mask_transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.image_transform(self.images[index])  # expect: DAT177
        mask = self.mask_transform(self.masks[index])
        return image, mask


torch.manual_seed(0)
random.seed(0)
flip = RandomFlip()
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for image, mask in DataLoader(Cells(320, Compose(flip, Noise()), flip), batch_size=16, shuffle=True):
    loss = nn.functional.binary_cross_entropy_with_logits(model(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
