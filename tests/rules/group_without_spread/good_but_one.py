import numpy as np
import pandas as pd

import torchmedic

# An alarm that went off once, and doses that were changed once for most of the patients.
rng = np.random.default_rng(11)
days = pd.DataFrame({"patient": np.repeat(np.arange(20), 60), "dose": 5.0, "alarm": 0.0})
days["dose"] += (np.arange(1200) % 60 == 59) * rng.uniform(1, 3, 1200)
days.loc[130, "alarm"] = 1.0
days["pulse"] = rng.normal(70, 9, 1200)
days.loc[days.index % 60 < 2, "alarm"] = 0.5
days.to_csv("days.csv", index=False)

torchmedic.check_data("days.csv", group_by="patient")
