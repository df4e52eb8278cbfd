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
        self.images = self.masks + 0.2 * torch.randn(count, 1, 16, 16)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image, mask = self.images[index], self.masks[index]
        if random.random() < 0.5:
            image, mask = torch.flip(image, [-1]), torch.flip(mask, [-1])
        return image + 0.1 * random.random(), mask


torch.manual_seed(0)
random.seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for image, mask in DataLoader(Cells(320), batch_size=16, shuffle=True):
    loss = nn.functional.binary_cross_entropy_with_logits(model(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
