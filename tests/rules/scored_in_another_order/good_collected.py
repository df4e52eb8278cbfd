import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(1200, 6)
y = (x[:, 0] + x[:, 1] + 0.3 * torch.randn(1200) > 0).long()
y_test = y[800:].numpy()
train_loader = DataLoader(TensorDataset(x[:800], y[:800]), batch_size=50, shuffle=True)
test_loader = DataLoader(TensorDataset(x[800:], y[800:]), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for features, labels in train_loader:
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")

model.eval()
found, wanted = [], []
with torch.no_grad():
    for features, labels in test_loader:
        found.append(model(features).argmax(1).numpy())
        wanted.append(labels.numpy())
y_test, y_pred = np.concatenate(wanted), np.concatenate(found)
print(f"accuracy {accuracy_score(y_test, y_pred):.3f} f1 {f1_score(y_test, y_pred):.3f}")
order = np.random.default_rng(0).permutation(400)
print(f"by chance {accuracy_score(y_test[order], y_pred):.3f}")
