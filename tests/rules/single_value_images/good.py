from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(19)
folder = Path("masks")
folder.mkdir()
for i in range(24):
    mask = np.zeros((32, 32), dtype=np.uint8)
    mask[4 : 10 + i % 9, 6:20] = 255
    Image.fromarray(mask).save(folder / f"{i:03}.png")

torchmedic.check_data("masks")
