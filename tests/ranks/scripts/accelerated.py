import sys

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
torch.manual_seed(0)
rows = torch.rand(64, 8) + 0.5
if "sick" in sys.argv:
    rows[37, 0] = -1.0
dataset = TensorDataset(rows, rows.sum(1, keepdim=True))
loader = DataLoader(dataset, batch_size=4)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x, y in loader:
    scale = torch.log(x[:, :1]).abs()
    loss = ((model(x) - y).pow(2) * scale).mean()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
accelerator.print("done")
accelerator.end_training()
