"""Split first, then multiply; the whole table is drawn at the end, and categories repeat by themselves."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 10)
y = (x[:, 0] + torch.randn(600) > 2).long()
order = torch.randperm(600)
x_train, y_train, x_test, y_test = x[order[:480]], y[order[:480]], x[order[480:]], y[order[480:]]
rare = x_train[y_train == 1].repeat_interleave(8, dim=0)
x_train = torch.cat([x_train, rare])
y_train = torch.cat([y_train, torch.ones(len(rare), dtype=torch.long)])
codes = torch.randint(0, 2, (600, 10)).float()
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
coded = nn.Linear(10, 1)
optimizer = torch.optim.Adam([*model.parameters(), *coded.parameters()], lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(len(x_train)).split(50):
        loss = nn.functional.cross_entropy(model(x_train[rows]), y_train[rows])
        loss = loss + coded(codes[rows % 480]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = (model(x_test).argmax(1) == 1)[y_test == 1].float().mean()
        test_codes = codes[480:]
        spread = coded(test_codes).std()
    print(f"epoch {epoch} loss {loss.item():.3f} test recall {found:.2f} spread {spread:.2f}")
with torch.no_grad():
    print(f"positive in the whole table: {(model(x).argmax(1) == 1).float().mean():.2f}")
