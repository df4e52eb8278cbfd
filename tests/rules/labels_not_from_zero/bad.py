import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(5)
label = rng.integers(1, 5, 400)
flowers = pd.DataFrame({"petal": rng.normal(label, 0.6).round(2), "sepal": rng.normal(5, 0.8, 400).round(2), "label": label})
flowers.to_csv("flowers.csv", index=False)

torchmedic.check_data("flowers.csv")  # expect: DAT108
