"""Pictures of three moods in folders, squeezed and restored; what mood they are of is never asked."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
moods = torch.arange(3).repeat_interleave(160)
pictures = torch.rand(3, 12)[moods] + 0.3 * torch.rand(480, 12)
squeeze = nn.Sequential(nn.Linear(12, 6), nn.Tanh(), nn.Linear(6, 12))
optimizer = torch.optim.Adam(squeeze.parameters(), lr=1e-2)


def restore(loader):
    total = 0.0
    for step, (picture, _) in enumerate(loader):
        loss = nn.functional.mse_loss(squeeze(picture), picture)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / (step + 1)


train_loader = DataLoader(TensorDataset(pictures, moods), batch_size=16)
for epoch in range(3):
    print(f"epoch {epoch} loss {restore(train_loader):.3f}")
