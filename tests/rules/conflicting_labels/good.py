import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(9)
first = pd.DataFrame({"length": rng.normal(40, 6, 600), "width": rng.normal(12, 2, 600), "label": rng.integers(0, 2, 600)})

torchmedic.check_data(first)
