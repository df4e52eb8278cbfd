import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(1)
texts = pd.DataFrame({"words": rng.integers(5, 90, 500), "embedding": list(rng.normal(size=(500, 8)))})
texts["label"] = rng.integers(0, 2, 500)
# The second export was appended to the first one.
pd.concat([texts, texts.iloc[:40]]).to_parquet("texts.parquet", index=False)

torchmedic.check_data("texts.parquet")  # expect: DAT111
