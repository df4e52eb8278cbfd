import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(13)
label = np.arange(180) % 3
seeds = pd.DataFrame({"area": rng.normal(14 + label, 1), "groove": rng.normal(5, 0.4, 180), "label": label})

torchmedic.check_data(seeds)
