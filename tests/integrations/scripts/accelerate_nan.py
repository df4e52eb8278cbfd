"""Accelerate with accumulation: a batch of equal rows has a spread of 0."""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 8)
x[320:352] = 0.5
y = x[:, :3].argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(2):
    for xb, yb in loader:
        with accelerator.accumulate(model):
            scaled = (xb - xb.mean(0)) / xb.std(0)  # expect: NUM004
            loss = F.cross_entropy(model(scaled), yb)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
