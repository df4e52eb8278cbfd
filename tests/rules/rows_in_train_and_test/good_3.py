from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

import torchmedic

rng = np.random.default_rng(4)
for part, count in (("train", 30), ("test", 10)):
    folder = Path("scans", part)
    folder.mkdir(parents=True)
    for i in range(count):
        Image.fromarray(rng.integers(0, 256, (24, 24, 3), dtype=np.uint8)).save(folder / f"{i:02}.png")
    # Icons of two colours are equal by chance, and by design.
    icon = np.zeros((24, 24, 3), dtype=np.uint8)
    icon[6:18, 6:18] = 255
    Image.fromarray(icon).save(folder / "marker.png")
    # The same machines recorded sounds for both parts: only the sounds differ.
    machine = rng.integers(0, 20, 20 * count)
    sounds = pd.DataFrame({"machine": machine, "hall": machine % 3, "year": 2000 + machine})
    sounds["sound"] = [rng.bytes(16) for _ in machine]
    sounds["spectrum"] = list(rng.normal(size=(len(machine), 4)))
    sounds.to_parquet(f"{part}.parquet", index=False)

torchmedic.check_data(["scans", "train.parquet", "test.parquet"])
