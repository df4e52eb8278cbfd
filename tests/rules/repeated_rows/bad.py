import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(8)
scans = pd.DataFrame({"id": range(900), "dose": rng.normal(5, 1, 900), "contrast": rng.normal(0, 1, 900)})
again = scans.sample(60, random_state=0).assign(id=range(900, 960))
pd.concat([scans, again]).to_parquet("scans.parquet")

torchmedic.check_data("scans.parquet")  # expect: DAT111
