import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(8)
answers = pd.DataFrame({"smoker": rng.integers(0, 2, 900), "sport": rng.integers(0, 4, 900), "sex": rng.integers(0, 2, 900)})
answers.to_parquet("answers.parquet")

torchmedic.check_data("answers.parquet")
