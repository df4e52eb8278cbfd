import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def split(features, stars):
    labels = np.asarray(stars)  # expect: ERR019
    k = int(0.8 * len(features))
    return (features[:k], labels[:k]), (features[k:], labels[k:])


torch.manual_seed(0)
rng = np.random.default_rng(0)
table = rng.normal(size=(400, 6)).astype("float32")
(train_x, train_y), (test_x, test_y) = split(table, np.clip(np.round(3 + table[:, 0]), 1, 5).astype(int))
loader = DataLoader(TensorDataset(torch.tensor(train_x), torch.tensor(train_y)), batch_size=64, shuffle=True)
net = nn.Linear(6, 5)
for xb, yb in loader:
    nn.functional.cross_entropy(net(xb), yb).backward()
