import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(2)
vectors = rng.normal(size=(400, 6))
vectors[17, 2] = np.nan  # a document of no known word
vectors[90] = np.inf
pd.DataFrame({"doc": np.arange(400) * 3 % 401, "vector": list(vectors)}).to_parquet("vectors.parquet", index=False)

torchmedic.check_data("vectors.parquet")  # expect: DAT100
