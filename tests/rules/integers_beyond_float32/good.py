import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(3)
visits = pd.DataFrame({"admission": rng.integers(0, 60_000, 600), "days": rng.gamma(2, 3, 600).round(2)})

torchmedic.check_data(visits)
