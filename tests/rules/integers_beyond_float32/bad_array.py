import numpy as np

import torchmedic

rng = np.random.default_rng(3)
readings = {
    "when": (1_700_000_000 + np.arange(2000) * 10).astype(np.float32),
    "user_id": rng.integers(20_000_000, 900_000_000, 2000).astype(np.float32),
    "x": rng.normal(size=(2000, 3)).astype(np.float32),
}
np.savez("readings.npz", **readings)

torchmedic.check_data("readings.npz")  # expect: DAT107
