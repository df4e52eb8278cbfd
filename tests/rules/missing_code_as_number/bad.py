import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(3)
air = pd.DataFrame({"ozone": rng.normal(38, 9, 2000).round(1), "wind": rng.gamma(2, 2, 2000).round(2)})
air["pressure"] = rng.normal(1013, 6, 2000).round(1)
# The station writes -200 while a sensor is calibrated, and 9999 when the barometer is off.
air.loc[rng.random(2000) < 0.06, "ozone"] = -200
air.loc[rng.random(2000) < 0.02, "pressure"] = 9999
air.to_csv("station.csv", index=False)

torchmedic.check_data("station.csv")  # expect: DAT139
