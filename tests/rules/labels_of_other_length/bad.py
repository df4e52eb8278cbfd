import numpy as np

import torchmedic

rng = np.random.default_rng(2)
x = rng.normal(size=(500, 12)).astype(np.float32)
y = rng.integers(0, 4, 500)
# Rows with a broken measurement are left out of the samples, and their labels are not.
x = x[np.abs(x).max(axis=1) < 3.5]
np.savez("train.npz", x=x, y=y)

torchmedic.check_data("train.npz")  # expect: DAT141
