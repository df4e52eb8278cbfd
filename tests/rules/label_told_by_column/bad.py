import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(15)
target = rng.integers(0, 2, 700)
loans = pd.DataFrame(
    {
        "income": rng.normal(3000, 500, 700).round(),
        "debt": rng.gamma(2, 900, 700).round(),
        "status": np.where(target == 1, "collections", "paid"),
        "target": target,
    }
)

torchmedic.check_data(loans)  # expect: DAT118
