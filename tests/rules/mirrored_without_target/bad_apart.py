import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RandomFlip:
    def __init__(self, p):
        self.p = p

    def __call__(self, picture):
        return torch.flip(picture, [-1]) if random.random() < self.p else picture


class Cells(Dataset):
    def __init__(self, count, transform):
        self.masks = torch.zeros(count, 1, 16, 16)
        for mask in self.masks:
            top, left = torch.randint(0, 10, (2,)).tolist()
            mask[:, top : top + 5, left : left + 4] = 1
        self.images = self.masks + 0.2 * torch.randn(count, 1, 16, 16)
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image, mask = self.images[index], self.masks[index]
        return self.transform(image), self.transform(mask)  # expect: DAT177


torch.manual_seed(0)
random.seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for image, mask in DataLoader(Cells(320, RandomFlip(0.5)), batch_size=16, shuffle=True):
    loss = nn.functional.binary_cross_entropy_with_logits(model(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
