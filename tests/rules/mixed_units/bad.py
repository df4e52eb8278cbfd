import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(18)
glucose = rng.normal(5.6, 0.7, 1200).clip(4)
glucose[900:] = rng.normal(5.6, 0.7, 300).clip(4) * 18.016
pd.DataFrame({"age": rng.integers(20, 90, 1200), "glucose": glucose.round(2)}).to_csv("glucose.csv", index=False)

torchmedic.check_data("glucose.csv")  # expect: DAT124
