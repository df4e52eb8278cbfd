import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(15)
target = rng.integers(0, 2, 700)
loans = pd.DataFrame(
    {
        "income": rng.normal(3000, 500, 700).round(),
        "debt": rng.gamma(2, 900, 700).round(),
        "job": np.where(rng.random(700) < 0.8, np.where(target == 1, "none", "office"), "shop"),
        "target": target,
    }
)

torchmedic.check_data(loans)
