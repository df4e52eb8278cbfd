import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(12)
load = pd.DataFrame({"hour": pd.date_range("2021-01-01", periods=900, freq="h"), "load": rng.normal(50, 9, 900), "wind": rng.gamma(2, 3, 900)})
load["split"] = np.where(load.index < 720, "train", "test")

torchmedic.check_data(load, time="hour")
