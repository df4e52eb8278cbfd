from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(20)
folder = Path("xrays")
folder.mkdir()
for i in range(20):
    Image.fromarray(rng.integers(0, 256, (48, 48), dtype=np.uint8)).save(folder / f"{i:03}.png")

torchmedic.check_data("xrays")
