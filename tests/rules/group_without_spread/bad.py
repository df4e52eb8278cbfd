import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(4)
items = np.repeat(np.arange(50800, 50840), 60)
labs = pd.DataFrame(
    {
        "hadm_id": rng.integers(20000, 21000, len(items)),
        "itemid": items,
        "valuenum": rng.normal(80, 12, len(items)).round(1),
    }
)
# Two items are always reported as the same number, one differs in the seventh digit only.
labs.loc[labs.itemid == 50811, "valuenum"] = 12.34
labs.loc[labs.itemid == 50829, "valuenum"] = 97.7
labs.loc[labs.itemid == 50834, "valuenum"] = 97.7 + 1e-6 * rng.integers(0, 9, 60)

torchmedic.check_data(labs, group_by="itemid")  # expect: DAT102

mean = labs.groupby("itemid").valuenum.transform("mean")
std = labs.groupby("itemid").valuenum.transform("std")
labs["z"] = (labs.valuenum - mean) / std
