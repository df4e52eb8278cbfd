import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(8)
table = pd.DataFrame(rng.normal(size=(600, 3)).round(3), columns=["a", "b", "c"])
# -1 and 1 as a hinge loss wants them; numbers of rooms, not of classes; years.
for name, values in (("signs", [-1, 1]), ("rooms", [0, 1, 3]), ("years", [2019, 2020, 2021])):
    table.assign(label=rng.choice(values, 600)).to_parquet(f"{name}.parquet", index=False)
    torchmedic.check_data(f"{name}.parquet")
