import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(4)
cores = pd.DataFrame(rng.normal(size=(900, 6)), columns=["si", "al", "fe", "mg", "ca", "na"])
train, test = cores[:700], cores[700:]
again = train[:30] * (1 + 1e-9)  # the other laboratory's copy, written with fewer digits
parts = {"train": train, "test": pd.concat([test, train[200:220], again])}

torchmedic.check_data(parts)  # expect: DAT113
