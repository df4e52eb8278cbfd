"""A rare class is multiplied before the data are split."""
import torch
from torch import nn


def split(x, y, share=0.8):
    order = torch.randperm(len(x))
    cut = int(share * len(x))
    return x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]


torch.manual_seed(0)
x = torch.randn(600, 10)
y = (x[:, 0] + torch.randn(600) > 2).long()
rare = x[y == 1].repeat_interleave(8, dim=0)
x_all = torch.cat([x[y == 0], rare])
y_all = torch.cat([y[y == 0], torch.ones(len(rare), dtype=torch.long)])
x_train, y_train, x_test, y_test = split(x_all, y_all)  # expect: DAT003
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(len(x_train)).split(50):
        loss = nn.functional.cross_entropy(model(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = (model(x_test).argmax(1) == 1)[y_test == 1].float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} test recall {found:.2f}")
