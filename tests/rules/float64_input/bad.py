import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
features = rng.normal(size=(200, 6))
prices = rng.normal(size=(200, 1)).astype(np.float32)
data = TensorDataset(torch.from_numpy(features), torch.from_numpy(prices))  # expect: ERR007
loader = DataLoader(data, batch_size=20)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
