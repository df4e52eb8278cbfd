from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

folder = Path("masks")
folder.mkdir()
for i in range(24):
    mask = np.zeros((32, 32), dtype=np.uint8)
    # Two tools drew them: one writes 255, the other 1.
    mask[4 : 10 + i % 9, 6:20] = 1 if i in (5, 17, 20) else 255
    Image.fromarray(mask).save(folder / f"{i:03}.png")

torchmedic.check_data("masks")  # expect: DAT127
