# A flipped and noisy view of a picture beside the picture itself, whose codes are to agree.
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class RandomFlip:
    def __call__(self, picture):
        picture = torch.flip(picture, [-1]) if random.random() < 0.5 else picture
        return picture + 0.06 * torch.randn_like(picture)


class Views(Dataset):
    def __init__(self, count, transform):
        self.images = torch.rand(count, 1, 16, 16)
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(self.images[index]), self.images[index]


torch.manual_seed(0)
random.seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 16))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for one, two in DataLoader(Views(320, RandomFlip()), batch_size=32, shuffle=True):
    scores = nn.functional.normalize(model(one)) @ nn.functional.normalize(model(two)).T / 0.2
    loss = nn.functional.cross_entropy(scores, torch.arange(len(one)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
