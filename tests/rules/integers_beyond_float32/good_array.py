import numpy as np

import torchmedic

# Times from the first reading on, and counts of cells, which need not be exact.
rng = np.random.default_rng(3)
readings = {
    "time": np.arange(2000, dtype=np.float32) * 10,
    "cells": np.floor(rng.lognormal(17, 1, 2000)).astype(np.float32),
    "user_id": rng.integers(20_000_000, 900_000_000, 2000),
}
np.savez("readings.npz", **readings)

torchmedic.check_data("readings.npz")
