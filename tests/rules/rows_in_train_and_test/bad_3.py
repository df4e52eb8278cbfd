import shutil
from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(4)
for part, count in (("train", 30), ("test", 10)):
    for name in ("cat", "dog"):
        folder = Path("pets", part, name)
        folder.mkdir(parents=True)
        for i in range(count):
            Image.fromarray(rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)).save(folder / f"{i:02}.png")
shutil.copy("pets/train/cat/03.png", "pets/test/cat/07.png")
# The same picture, saved in another format.
Image.open("pets/train/dog/11.png").save("pets/test/dog/04.bmp")

torchmedic.check_data("pets")  # expect: DAT113
