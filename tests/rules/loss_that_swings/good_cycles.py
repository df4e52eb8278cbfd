"""The same cycles, and the run ends where the rate is lowest."""
import torch
from torch import nn

torch.manual_seed(0)
spectra = torch.randn(2048, 24)
with torch.no_grad():
    purity = 2 * nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 1))(spectra)
purity = purity + 0.3 * torch.randn(2048, 1)

model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.001, 0.5, step_size_up=70)
for step in range(700):
    rows = torch.randint(len(spectra), (32,))
    loss = nn.functional.mse_loss(model(spectra[rows]), purity[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 70 == 0:
        print(f"step {step} loss {loss.item():.4f}")
