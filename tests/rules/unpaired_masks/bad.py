from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(2)
for name in ("images", "masks"):
    (Path("scans") / name).mkdir(parents=True)
for i in range(30):
    Image.fromarray(rng.integers(0, 255, (24, 24), dtype=np.uint8)).save(f"scans/images/img_{i:03}.png")
    mask = np.zeros((24, 24), dtype=np.uint8)
    mask[2 : 6 + i % 9, 4:16] = 255
    # Two masks were lost on the way.
    if i not in (4, 11):
        Image.fromarray(mask).save(f"scans/masks/img_{i:03}_mask.png")

torchmedic.check_data("scans")  # expect: DAT224
