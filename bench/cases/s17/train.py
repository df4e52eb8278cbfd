import numpy as np
import torch
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

X, Y = make_multilabel_classification(n_samples=3000, n_features=30, n_classes=8, n_labels=2, random_state=4)
X = (X - X.mean(0)) / X.std(0)
X, Y = torch.tensor(X, dtype=torch.float32), torch.tensor(Y, dtype=torch.float32)
train_ds = TensorDataset(X[:2400], Y[:2400])
x_te, y_te = X[2400:], Y[2400:]


class Tagger(nn.Module):
    def __init__(self, n_in, n_tags):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 64)
        self.fc2 = nn.Linear(64, n_tags)
        self.act = nn.ReLU()
        self.prob = nn.Sigmoid()

    def forward(self, x):
        x = self.act(self.fc1(x))
        return self.prob(self.fc2(x))


torch.manual_seed(0)
model = Tagger(30, 8)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(train_ds, batch_size=64, shuffle=True)
for epoch in range(8):
    model.train()
    batch_losses = []
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        batch_losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        p = model(x_te)
    f1 = f1_score(y_te.numpy(), (p > 0.5).numpy(), average="macro", zero_division=0)
    print(f"epoch {epoch} loss {np.mean(batch_losses):.4f} macro f1 {f1:.3f} mean prob {p.mean():.3f} base rate {y_te.mean():.3f}")
