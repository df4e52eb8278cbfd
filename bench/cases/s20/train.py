import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ActivityDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.y = rng.choice(4, size=n, p=[0.55, 0.25, 0.12, 0.08])
        freq = np.array([0.5, 1.0, 1.6, 2.4])[self.y]
        t = np.linspace(0, 6, 30)
        phase = rng.uniform(0, 6.28, (n, 1))
        self.x = np.sin(freq[:, None] * t + phase) + 0.5 * rng.normal(size=(n, 30))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i].astype(np.float32)[:, None], int(self.y[i])


class LSTMClassifier(nn.Module):
    def __init__(self, hidden=32, classes=4):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)
        self.log_softmax = nn.LogSoftmax(dim=0)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.log_softmax(self.fc(h[-1]))


torch.manual_seed(0)
train_loader = DataLoader(ActivityDataset(2000, 0), batch_size=50, shuffle=True)
test_loader = DataLoader(ActivityDataset(500, 1))
model = LSTMClassifier()
criterion = nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    model.train()
    total = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"Epoch {epoch + 1}/10 loss {total / len(train_loader):.4f} accuracy {hits / 500:.3f}")
