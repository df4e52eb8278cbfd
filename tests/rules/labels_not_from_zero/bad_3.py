import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(7)
grade = rng.choice([1, 2, 4, 5], 600)  # nobody was given a 3 after the filter
cells = pd.DataFrame({"area": rng.normal(grade, 0.9).round(3), "shape": rng.normal(size=600).round(3), "target": grade})
cells.to_parquet("cells.parquet", index=False)

torchmedic.check_data("cells.parquet")  # expect: DAT108
