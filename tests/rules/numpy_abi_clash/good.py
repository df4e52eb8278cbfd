import numpy as np
import torch

rows = np.linspace(0.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
print(torch.from_numpy(rows).mean())
