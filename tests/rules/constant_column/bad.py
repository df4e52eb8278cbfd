import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(0)
houses = pd.DataFrame(
    {
        "floor_area": rng.normal(90, 20, 500).round(1),
        "rooms": rng.integers(1, 7, 500),
        "country_code": 49,
        "price": rng.normal(3e4, 4e3, 500).round(-2),
    }
)
houses.to_parquet("houses.parquet")

torchmedic.check_data("houses.parquet")  # expect: DAT103
