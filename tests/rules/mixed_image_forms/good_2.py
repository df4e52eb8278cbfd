from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

folder = Path("masks")
folder.mkdir()
for i in range(24):
    mask = np.zeros((32, 32), dtype=np.uint8)
    # Classes 1 and 2, not both on each mask; 255 is what nobody could tell.
    mask[4 : 10 + i % 9, 6:20] = 1 + i % 2
    mask[20:24] = 255 if i % 3 else 0
    Image.fromarray(mask).save(folder / f"{i:03}.png")

torchmedic.check_data("masks")
