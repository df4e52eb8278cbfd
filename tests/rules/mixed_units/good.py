import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(18)
petal = np.concatenate([rng.normal(1.5, 0.15, 400), rng.normal(4.9, 0.6, 800)])
pd.DataFrame({"sepal": rng.normal(5.8, 0.8, 1200).round(2), "petal": petal.round(2)}).to_csv("petals.csv", index=False)

torchmedic.check_data("petals.csv")
