import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 5
ACCUMULATE = 2
torch.manual_seed(0)
x = torch.randn(320, 12)
y = (x[:, :3].sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(12, 48), nn.SiLU(), nn.Linear(48, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=5e-3, epochs=EPOCHS, steps_per_epoch=len(loader) // ACCUMULATE
)
for epoch in range(EPOCHS):
    for i, (rows, target) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(rows), target) / ACCUMULATE
        loss.backward()
        if (i + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()  # expect: WIR123
