import numpy as np

import torchmedic

rng = np.random.default_rng(2)
x = rng.normal(size=(500, 12)).astype(np.float32)
y = rng.integers(0, 4, 500)
kept = np.abs(x).max(axis=1) < 3.5
np.savez("train.npz", x=x[kept], y=y[kept], x_test=x[:450], y_test=y[:450], y_all=y)

torchmedic.check_data("train.npz")
