import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(22)
stays = pd.DataFrame({"ward": rng.choice(["ICU", "CCU"], 300), "days": rng.gamma(2, 2, 300).round(1), "age": rng.normal(60, 9, 300)})
stays.to_csv("stays.csv", index=False)

torchmedic.check_data("stays.csv", where="days > 1")
