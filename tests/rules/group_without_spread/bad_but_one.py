import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(11)
labs = pd.DataFrame({"item": np.repeat(["inr", "lactate", "sodium", "glucose"], 300)})
labs["value"] = np.concatenate([np.ones(300), *(rng.normal(mean, 1 + mean / 20, 300) for mean in (2, 140, 100))])
# One sodium was entered under another item.
labs.loc[77, "value"] = 140.0
labs.to_csv("labs.csv", index=False)

torchmedic.check_data("labs.csv", group_by="item")  # expect: DAT102
