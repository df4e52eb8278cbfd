import numpy as np

import torchmedic

rng = np.random.default_rng(16)
np.save("features.npy", rng.normal(size=(5000, 16)))

torchmedic.check_data("features.npy")  # expect: DAT119
