import numpy as np
import pandas as pd

import torchmedic

# A capital may mean another thing: alleles, and sizes of a garment.
rng = np.random.default_rng(8)
peas = pd.DataFrame({"height": rng.normal(90, 9, 600), "allele": rng.choice(["A", "a", "good", "goods"], 600)})
peas.to_csv("peas.csv", index=False)

torchmedic.check_data("peas.csv", label="allele")
