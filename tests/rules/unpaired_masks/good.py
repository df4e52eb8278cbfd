from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(2)
for part, count in (("train", 24), ("test", 12)):
    for name in ("images", "masks"):
        (Path("scans") / part / name).mkdir(parents=True)
    for i in range(count):
        Image.fromarray(rng.integers(0, 255, (24, 24), dtype=np.uint8)).save(f"scans/{part}/images/img_{i:03}.png")
        mask = np.zeros((24, 24), dtype=np.uint8)
        mask[2 : 6 + i % 9, 4:16] = 255
        # Of the images that were kept for later only the first two are marked so far.
        if part == "train" or i < 2:
            Image.fromarray(mask).save(f"scans/{part}/masks/img_{i:03}_mask.png")

torchmedic.check_data("scans/train")
torchmedic.check_data("scans/test")
