import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(1)
flats = pd.DataFrame({"area": rng.normal(70, 20, 800), "price_in_thousands": rng.normal(240, 30, 800)})

torchmedic.check_data(flats)
