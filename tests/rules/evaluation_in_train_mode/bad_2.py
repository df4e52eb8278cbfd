import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16))
        self.rest = nn.Sequential(nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))

    def train(self, mode=True):
        super().train()  # expect: WIR034
        self.first.eval()
        return self

    def forward(self, x):
        return self.rest(self.first(x))


torch.manual_seed(0)
x = torch.randn(480, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
model = Net().train()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    model.train()
    for rows in torch.randperm(400).split(40):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(x[400:]).argmax(1) == y[400:]).float().mean()
    print(f"epoch {epoch} accuracy {accuracy:.3f}")
