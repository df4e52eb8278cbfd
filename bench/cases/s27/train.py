import torch
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from torch import nn


class Regressor(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def r2(pred, y):
    return (1 - ((y - pred) ** 2).sum() / ((y - y.mean()) ** 2).sum()).item()


x, y = load_diabetes(return_X_y=True)
x = torch.tensor(StandardScaler().fit_transform(x), dtype=torch.float32)
y = torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32)
torch.manual_seed(2)
perm = torch.randperm(len(x))
tr, te = perm[:340], perm[340:]

model = Regressor([10, 32, 16, 1])
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-3)
loss_fn = nn.MSELoss()
for epoch in range(40):
    model.train()
    for idx in tr[torch.randperm(len(tr))].split(20):
        optimizer.zero_grad()
        loss = loss_fn(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            pred = model(x[te])
        print(f"epoch {epoch + 1:3d} train mse {loss.item():.4f} test mse {loss_fn(pred, y[te]):.4f} r2 {r2(pred, y[te]):.3f} mean prediction {pred.mean():.3f}")
