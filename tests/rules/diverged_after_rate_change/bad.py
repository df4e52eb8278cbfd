import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_scheduler(optimizer, milestones=(2,)):
    return torch.optim.lr_scheduler.MultiStepLR(optimizer, list(milestones), gamma=10)  # expect: TRN030


torch.manual_seed(0)
x = torch.randn(480, 12)
y = x @ torch.randn(12, 1) + 0.1 * torch.randn(480, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(12, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.028)
scheduler = make_scheduler(optimizer)
for epoch in range(5):
    total = 0.0
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.3g} loss {total / len(loader):.4f}")
