import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def class_weights(labels, classes):
    counts = torch.bincount(labels, minlength=classes).float()
    return counts.sum() / counts


def balanced_loader(x, y, batch_size=32):
    weights = class_weights(y, classes=3)
    sampler = WeightedRandomSampler(weights[y], num_samples=len(y))
    return DataLoader(TensorDataset(x, y), batch_size, sampler=sampler)


torch.manual_seed(0)
y = torch.multinomial(torch.tensor([0.8, 0.15, 0.05]), 640, replacement=True)
x = torch.randn(3, 12)[y] + torch.randn(640, 12)
loader = balanced_loader(x, y)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for inputs, labels in loader:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.2f}")
