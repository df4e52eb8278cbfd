import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(3)
plots = pd.DataFrame({"yield_t": rng.normal(7, 1, 400).round(2), "rain": rng.gamma(2, 30, 400).round(1)})
plots["soil_n"] = np.nan  # the join found no sample of any plot
plots.to_csv("plots.csv", index=False)

torchmedic.check_data("plots.csv")  # expect: DAT101
