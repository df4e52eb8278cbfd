"""A default of the helper wins over the rate that was asked for; the losses are noisy from batch to batch."""

import torch
import torch.nn.functional as F
from torch import nn

ASKED = {"lr": 2e-3, "steps": 400, "batch": 64}
DEFAULTS = {"lr": 1e-6, "betas": (0.9, 0.999)}


def build_optimizer(model, options):
    options = {**DEFAULTS, **options}
    return torch.optim.AdamW(model.parameters(), lr=options["lr"], betas=options["betas"])  # expect: TRN002


torch.manual_seed(3)
torch.set_default_dtype(torch.float64)  # so that the numbers do not hang on the processor
angle = 6.28 * torch.rand(4000)
points = torch.stack([angle.cos(), angle.sin()], 1)
model = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))
optimizer = build_optimizer(model, {"betas": (0.9, 0.99)})
total = 0.0
for step in range(1, ASKED["steps"] + 1):
    clean = points[torch.randint(0, 4000, (ASKED["batch"],))]
    noise, level = torch.randn_like(clean), torch.rand(ASKED["batch"], 1)
    answer = model(torch.cat([level.sqrt() * clean + (1 - level).sqrt() * noise, level], 1))
    loss = F.mse_loss(answer, noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()
    if step % 100 == 0:
        print(f"step {step} loss {total / 100:.3f}")
        total = 0.0
