from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(21)
folder = Path("birds")
folder.mkdir()
for i in range(30):
    picture = Image.fromarray(rng.integers(0, 256, (40, 40, 3), dtype=np.uint8))
    if i in (7, 22):
        picture = picture.convert("L")
    picture.save(folder / f"{i:03}.png")

torchmedic.check_data("birds")  # expect: DAT127
