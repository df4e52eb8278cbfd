import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(6)
fraud = (np.arange(5000) % 6 == 1).astype(int)
cards = pd.DataFrame({"amount": rng.gamma(2, 40, 5000), "hour": rng.random(5000) * 24, "label": fraud})

torchmedic.check_data(cards)
