import numpy as np
import pandas as pd

import torchmedic

rng = np.random.default_rng(11)
beats = pd.DataFrame({"patient_id": rng.integers(100, 160, 900), "rr": rng.normal(0.8, 0.1, 900), "qt": rng.normal(0.4, 0.03, 900)})
beats["split"] = np.where(beats.patient_id < 148, "train", "test")

torchmedic.check_data(beats)
