import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=4)
batches = iter(loader)
first = batches.next()  # expect: ERR272
