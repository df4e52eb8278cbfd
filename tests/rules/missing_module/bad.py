import nunpy as np  # expect: ENV009
import torch

rows = np.zeros((3, 4), dtype="float32")
print(torch.from_numpy(rows).sum())
