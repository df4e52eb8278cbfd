import numpy as np
import pandas as pd

import torchmedic

# Visits of the same users: everything but the embedding is equal, and the embedding tells them apart.
rng = np.random.default_rng(0)
user = np.repeat(np.arange(300), 10)
visits = pd.DataFrame({"user": user, "country": user * 7 % 40, "since": 2010 + user * 3 % 14})
visits["device"] = rng.integers(0, 3, len(user))
visits["embedding"] = list(rng.normal(size=(len(user), 8)))
visits["clip"] = [rng.bytes(12) for _ in user]
visits["label"] = rng.integers(0, 2, len(user))
visits.to_parquet("visits.parquet", index=False)

torchmedic.check_data("visits.parquet")
