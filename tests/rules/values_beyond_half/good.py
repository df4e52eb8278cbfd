import numpy as np
import pandas as pd

import torchmedic

# Amounts of money, which nobody casts to float16 as they are.
rng = np.random.default_rng(1)
flats = pd.DataFrame({"area": rng.normal(70, 20, 800), "price": rng.normal(240000, 30000, 800)})

torchmedic.check_data(flats)
