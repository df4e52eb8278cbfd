import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(14)
apples = pd.DataFrame({"weight": rng.normal(180, 20, 300).round(1), "sugar": rng.normal(11, 1, 300).round(2)})
apples.to_csv("apples.csv", index=False)

torchmedic.check_data("apples.csv")
