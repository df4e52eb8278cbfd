import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(1)
flats = pd.DataFrame({"area": rng.normal(70, 20, 800), "price": rng.normal(240000, 30000, 800)})

torchmedic.check_data(flats)  # expect: DAT106
