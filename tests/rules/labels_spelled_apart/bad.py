import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(8)
wine = pd.DataFrame({"sugar": rng.normal(2, 0.5, 600), "quality": rng.choice(["good", "medium", "poor"], 600)})
# Another taster wrote these.
wine.loc[40:52, "quality"] = "Good "
wine.to_csv("wine.csv", index=False)

torchmedic.check_data("wine.csv", label="quality")  # expect: DAT223
