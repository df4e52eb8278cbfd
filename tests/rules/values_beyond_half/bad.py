import numpy as np

import torchmedic

rng = np.random.default_rng(1)
flats = {
    "rooms": rng.normal(0, 1, (800, 6)).astype(np.float16),
    "price": rng.normal(240000, 30000, 800).astype(np.float32),
}

torchmedic.check_data(flats)  # expect: DAT106
