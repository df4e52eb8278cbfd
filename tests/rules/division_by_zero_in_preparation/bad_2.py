from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
rng = np.random.default_rng(5)
for folder in ("images", "masks"):
    Path("cells", folder).mkdir(parents=True, exist_ok=True)
for i in range(24):
    Image.fromarray(rng.integers(0, 256, (16, 16), dtype=np.uint8)).save(f"cells/images/{i:02}.png")
    mask = np.zeros((16, 16), dtype=np.uint8)
    mask[4:9, 4:9] = 0 if i in (11, 20) else 200  # two fields without a cell
    Image.fromarray(mask).save(f"cells/masks/{i:02}.png")


class Cells(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        image = torch.from_numpy(np.array(Image.open(f"cells/images/{i:02}.png"))).float() / 255
        mask = torch.from_numpy(np.array(Image.open(f"cells/masks/{i:02}.png"))).float()
        mask = mask / mask.max()  # expect: DAT035
        return image[None], mask[None]


net = nn.Conv2d(1, 1, 3, padding=1)
optimizer = torch.optim.Adam(net.parameters())
for image, mask in DataLoader(Cells(), batch_size=8):
    loss = nn.functional.binary_cross_entropy_with_logits(net(image), mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
