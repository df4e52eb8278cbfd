import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(7)
weights = rng.normal(71, 12, 3000).round(1)
weights[[412, 1777]] = 999999
pd.DataFrame({"height": rng.normal(171, 9, 3000).round(), "weight": weights}).to_csv("people.csv", index=False)

torchmedic.check_data("people.csv")  # expect: DAT105
