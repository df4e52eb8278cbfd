import numpy as np
import pandas as pd

import torchmedic

# Two sensors wrote to one file: the same time twice, and now and then the same reading.
rng = np.random.default_rng(6)
when = pd.date_range("2024-03-01", periods=400, freq="h", tz="UTC").repeat(2)
readings = pd.DataFrame({"when": when.strftime("%Y-%m-%dT%H:%M:%S+00:00"), "level": rng.integers(0, 4, 800)})
readings.to_csv("readings.csv", index=False)

torchmedic.check_data("readings.csv")
