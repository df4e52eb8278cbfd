import torch
from torch import nn

SETTINGS = dict(
    width=32,
    norm_momentum=0.0,  # expect: TRN045
    rate=1e-2,
)


def block(inputs, outputs):
    norm = nn.BatchNorm1d(outputs, momentum=SETTINGS["norm_momentum"])
    return nn.Sequential(nn.Linear(inputs, outputs), norm, nn.ReLU())


torch.manual_seed(0)
x = 5 * torch.randn(640, 12) + 3
y = (x @ torch.randn(12, 3)).argmax(1)
width = SETTINGS["width"]
model = nn.Sequential(block(12, width), block(width, width), nn.Linear(width, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["rate"])
for epoch in range(3):
    model.train()
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(1) == y).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right:.3f}")
