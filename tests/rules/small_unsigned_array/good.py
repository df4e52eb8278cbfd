import numpy as np

import torchmedic

rng = np.random.default_rng(17)
np.savez("counts.npz", counts=rng.integers(0, 90, (400, 12)).astype(np.float32))

torchmedic.check_data("counts.npz")
