"""A compiled model (eager backend: no compiler needed), validated between epochs: nothing is wrong here."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x[:, :3] + 0.3 * torch.randn(512, 3)).argmax(1)
train = DataLoader(TensorDataset(x[:384], y[:384]), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
compiled = torch.compile(model, backend="eager")
for epoch in range(3):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(compiled(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = F.cross_entropy(compiled(x[384:]), y[384:])
print(float(val_loss) < 1.0)
