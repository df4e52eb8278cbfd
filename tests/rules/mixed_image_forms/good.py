from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(21)
folder = Path("birds")
folder.mkdir()
for i in range(30):
    size = (30 + i % 11, 40 + i % 7, 3)
    Image.fromarray(rng.integers(0, 256, size, dtype=np.uint8)).save(folder / f"{i:03}.png")

torchmedic.check_data("birds")
