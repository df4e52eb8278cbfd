import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(1)
odds = pd.DataFrame({"score": rng.normal(0, 1, 800), "odds": np.exp(rng.normal(100, 5, 800))})

torchmedic.check_data(odds)  # expect: DAT106
