import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(3)
sales = pd.DataFrame({"revenue": [f"{v:,.0f}" for v in rng.lognormal(8, 2, 400)]})
sales["margin"] = [f"{v:.1f}%" for v in rng.uniform(3, 40, 400)]
sales["price"] = [f"${v:,.2f}" for v in rng.lognormal(6, 1, 400)]
sales["load"] = [f"{v} kg" for v in rng.integers(20, 90, 400)]
sales.to_csv("sales.csv", index=False)

torchmedic.check_data("sales.csv")  # expect: DAT140
