import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(8)
names = ["age", "height", "pulse", "sodium", "glucose", "lactate", "weight"]
rows = pd.DataFrame(rng.normal(70, 12, (900, 7)).round(2), columns=names).assign(y=rng.integers(0, 2, 900))
test = rows.iloc[700:].copy()
# The same visits were exported twice, the second time with a corrected weight.
copies = rows.iloc[:60].copy()
copies["weight"] += rng.normal(0, 3, 60).round(2) + 9
rows.iloc[:700].to_csv("train.csv", index=False)
pd.concat([test, copies]).to_csv("test.csv", index=False)

torchmedic.check_data(["train.csv", "test.csv"])  # expect: DAT113
