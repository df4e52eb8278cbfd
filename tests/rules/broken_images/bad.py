from pathlib import Path

import numpy as np
from PIL import Image

import torchmedic

rng = np.random.default_rng(20)
folder = Path("xrays")
folder.mkdir()
for i in range(20):
    Image.fromarray(rng.integers(0, 256, (48, 48), dtype=np.uint8)).save(folder / f"{i:03}.png")
# Two downloads were cut off, one is a page of the server.
for name in ("003.png", "011.png"):
    (folder / name).write_bytes((folder / name).read_bytes()[:700])
(folder / "015.png").write_text("<html>404</html>")

torchmedic.check_data("xrays")  # expect: DAT126
