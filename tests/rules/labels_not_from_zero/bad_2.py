import numpy as np

import torchmedic

rng = np.random.default_rng(6)
labels = rng.integers(0, 6, 500)
labels[rng.choice(500, 25, replace=False)] = -1  # the annotator skipped these
np.savez("digits.npz", x=rng.random((500, 8, 8), dtype=np.float32), y=labels)

torchmedic.check_data("digits.npz")  # expect: DAT108
