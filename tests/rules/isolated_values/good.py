import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(7)
incomes = rng.lognormal(10, 1.2, 3000).round()
pd.DataFrame({"age": rng.integers(18, 90, 3000), "income": incomes}).to_csv("people.csv", index=False)

torchmedic.check_data("people.csv")
