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
# Nearly always 5, but not always: a spread to divide by.
labs.loc[labs.itemid == 50811, "valuenum"] = np.where(np.arange(60) % 20, 5.0, 5.1)

torchmedic.check_data(labs, group_by="itemid")
