import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sample(n, seed, noise):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 30, generator=g)
    w = torch.randn(30, generator=torch.Generator().manual_seed(42))
    y = x @ w * 0.2 + 0.6 * torch.tanh(x[:, 0] * x[:, 1]) + noise * torch.randn(n, generator=g)
    return x, y.unsqueeze(1)


class EarlyStopping:
    def __init__(self, patience=25):
        self.patience = patience
        self.best = float("inf")
        self.best_epoch = -1
        self.bad = 0
        self.best_weights = None

    def update(self, value, epoch, model):
        if value < self.best:
            self.best, self.best_epoch, self.bad = value, epoch, 0
            self.best_weights = model.state_dict()
        else:
            self.bad += 1
        return self.bad >= self.patience


torch.manual_seed(0)
train_dl = DataLoader(TensorDataset(*sample(250, 1, 1.0)), batch_size=25, shuffle=True)
xv, yv = sample(600, 2, 1.0)
xt, yt = sample(2000, 3, 0.0)
model = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
mse = nn.MSELoss()
stopper = EarlyStopping()
for epoch in range(80):
    model.train()
    for x, y in train_dl:
        optimizer.zero_grad()
        loss = mse(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = mse(model(xv), yv).item()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} train {loss.item():.3f} val {val:.3f}")
    if stopper.update(val, epoch, model):
        break
model.load_state_dict(stopper.best_weights)
with torch.no_grad():
    print(f"restored epoch {stopper.best_epoch} (val {stopper.best:.3f}): val {mse(model(xv), yv):.3f} test {mse(model(xt), yt):.3f}")
