import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
genes = torch.randn(72, 20)
cohort = TensorDataset(genes, (genes[:, 0] > 0).long())
train_part, test_part = random_split(cohort, [52, 20])
train_loader = DataLoader(train_part, batch_size=16, shuffle=True, drop_last=True)
test_loader = DataLoader(test_part, batch_size=64)
model = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch} loss {total:.4f} accuracy {right / len(test_part):.2f}")
