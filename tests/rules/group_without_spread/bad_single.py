import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(8)
probes = pd.DataFrame({"site": rng.integers(0, 20, 800), "ph": rng.normal(7, 0.4, 800).round(2)})
probes.loc[[3, 90], "site"] = [71, 72]  # two sites were visited once
probes.to_csv("probes.csv", index=False)

torchmedic.check_data("probes.csv", group_by="site")  # expect: DAT102
