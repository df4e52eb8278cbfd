import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(3)
visits = pd.DataFrame(
    {"admission": rng.choice(9_000_000, 600, replace=False) + 20_000_000, "days": rng.gamma(2, 3, 600).round(2)}
)

torchmedic.check_data(visits)  # expect: DAT107
