import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(10)
rows = pd.DataFrame(rng.normal(size=(1000, 4)).round(4), columns=["a", "b", "c", "d"]).assign(y=rng.integers(0, 2, 1000))
rows.iloc[:800].to_csv("train.csv", index=False)
rows.iloc[720:].to_csv("test.csv", index=False)

torchmedic.check_data(["train.csv", "test.csv"])  # expect: DAT113
