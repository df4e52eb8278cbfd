import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(7)
size = rng.normal(size=900)
visits = rng.poisson(np.exp(0.2 + 0.5 * size))  # few come often, and one came twenty times
visits[55] = 20
pd.DataFrame({"size": size.round(3), "age": rng.normal(50, 9, 900).round(1), "target": visits}).to_csv("t.csv", index=False)

torchmedic.check_data("t.csv")
