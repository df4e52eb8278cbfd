import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, ACCUMULATE = 6, 4
torch.manual_seed(0)
inputs = torch.randn(640, 10)
loader = DataLoader(TensorDataset(inputs, inputs[:, :2].prod(1, keepdim=True)), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
updates = EPOCHS * len(loader) // ACCUMULATE
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates)
for epoch in range(EPOCHS):
    for number, (x, y) in enumerate(loader, start=1):
        loss = nn.functional.mse_loss(model(x), y) / ACCUMULATE
        loss.backward()
        if number % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
    print(f"epoch {epoch} loss {loss.item() * ACCUMULATE:.3f} lr {scheduler.get_last_lr()[0]:.2e}")
