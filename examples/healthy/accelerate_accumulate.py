"""Accelerate loop: optimizer.step() and zero_grad() are called every micro-batch but act on every fourth only."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
x = torch.randn(2448, 12)
y = ((x[:, :4].sum(1) > 0) ^ (x[:, 5] > 0)).float()
train = DataLoader(TensorDataset(x[:2048], y[:2048]), batch_size=16, shuffle=True, drop_last=True)
val = DataLoader(TensorDataset(x[2048:], y[2048:]), batch_size=400)
model = nn.Sequential(nn.Linear(12, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, 1))
opt = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
model, opt, train, val = accelerator.prepare(model, opt, train, val)

for epoch in range(12):
    model.train()
    total, updates = 0.0, 0
    for xb, yb in train:
        with accelerator.accumulate(model):
            loss = F.binary_cross_entropy_with_logits(model(xb).squeeze(1), yb)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                updates += 1
            opt.step()
            opt.zero_grad()
        total += loss.item()
    model.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in val:
            out, ref = accelerator.gather_for_metrics((model(xb).squeeze(1), yb))
            hits += ((out > 0) == (ref > 0.5)).sum().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {total / len(train):.4f} updates {updates} val acc {hits / 400:.3f}")
print(f"final val accuracy {hits / 400:.3f}")
