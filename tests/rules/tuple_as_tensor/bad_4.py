import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
coder = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))
train_loader = DataLoader(TensorDataset(torch.randn(32, 8)), batch_size=8)
for batch in train_loader:  # expect: ERR024
    loss = (coder(batch) - batch).pow(2).mean()
    loss.backward()
