import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(256, 16)
y = (x[:, 0] + x[:, 1] > 0).long()
labelled = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
unlabelled = DataLoader(TensorDataset(torch.randn(512, 16)), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
batches = zip(labelled, unlabelled)  # expect: DAT175
for epoch in range(6):
    for (features, labels), (others,) in batches:
        loss = nn.functional.cross_entropy(model(features), labels) + 0.1 * model(others).softmax(1).var(0).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
