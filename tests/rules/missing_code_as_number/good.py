import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(3)
# Zeros that are real: no rain, no purchase, the freezing point; and a scale that ends at a limit.
days = pd.DataFrame({"rain": np.where(rng.random(2000) < 0.7, 0, rng.gamma(2, 3, 2000).round(1))})
days["spent"] = np.where(rng.random(2000) < 0.4, 0, rng.uniform(20, 90, 2000).round(2))
days["garage_area"] = np.where(rng.random(2000) < 0.1, 0, rng.uniform(200, 800, 2000).round())
days["celsius"] = rng.normal(4, 9, 2000).round()
days["depth"] = rng.normal(-900, 60, 2000).clip(-999, 0).round()
days["visibility"] = rng.gamma(3, 4000, 2000).clip(50, 9999).round()
days.to_csv("days.csv", index=False)

torchmedic.check_data("days.csv")
