import numpy as np
import pandas as pd

import torchmedic

# Hourly readings of the same patients: rows resemble each other within the training data as much as across.
rng = np.random.default_rng(9)
patient = rng.integers(0, 40, 1200)
fixed = rng.normal(60, 15, (40, 5)).round(1)[patient]
rows = pd.DataFrame(fixed, columns=["age", "height", "weight", "dose", "base"])
rows["pulse"] = rng.normal(80, 9, 1200).round(1)
rows["pressure"] = rng.normal(120, 11, 1200).round(1)
rows["y"] = rng.integers(0, 2, 1200)
rows.iloc[:900].to_csv("train.csv", index=False)
rows.iloc[900:].to_csv("test.csv", index=False)

torchmedic.check_data(["train.csv", "test.csv"])
