# A class, and numbers that are no places, stay the same in a mirrored image.
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Cells(Dataset):
    def __init__(self, count):
        self.masks = torch.zeros(count, 1, 16, 16)
        for mask in self.masks:
            top, left = torch.randint(0, 10, (2,)).tolist()
            mask[:, top : top + 5, left : left + 4] = 1
        self.sizes = torch.randn(count, 4)
        self.images = self.masks + 0.2 * torch.randn(count, 1, 16, 16)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if random.random() < 0.5:
            image = torch.flip(image, [-1])
        return image + 0.1 * random.random(), self.sizes[index]


torch.manual_seed(0)
random.seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16 * 16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for image, sizes in DataLoader(Cells(320), batch_size=16, shuffle=True):
    loss = nn.functional.mse_loss(model(image), sizes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
