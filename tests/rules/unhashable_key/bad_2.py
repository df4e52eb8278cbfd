import numpy as np
import torch

rng = np.random.default_rng(0)
rows = rng.integers(0, 3, size=(40, 4))
known = set()
kept = []
for row in rows:
    if row not in known:  # expect: ERR102
        known.add(row)
        kept.append(torch.as_tensor(row))
print(len(kept))
