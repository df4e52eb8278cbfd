import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(8)
probes = pd.DataFrame({"site": rng.integers(0, 20, 800), "ph": rng.normal(7, 0.4, 800).round(2)})
probes = pd.concat([probes, probes.head(2).assign(site=71, ph=[6.9, 7.3])])  # a site visited twice
probes.to_csv("probes.csv", index=False)

torchmedic.check_data("probes.csv", group_by="site")
