import sys

import numpy as np
import torch

sys.path.insert(0, "site-packages")
import oldtables  # expect: ENV005

rows = oldtables.read("lab.tbl")
print(torch.from_numpy(np.asarray(rows)).mean())
