import io

import torch
from torch import nn


def drawn(layer):
    if isinstance(layer, nn.Linear):
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)


def encoder():
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())


class FineTuned(nn.Module):
    def __init__(self, file):
        super().__init__()
        self.encoder, self.head = encoder(), nn.Linear(32, 3)
        self.encoder.load_state_dict(torch.load(file))
        self.apply(drawn)  # expect: WIR086

    def forward(self, x):
        return self.head(self.encoder(x))


torch.manual_seed(0)
file = io.BytesIO()
torch.save(encoder().state_dict(), file)
file.seek(0)
x = torch.randn(320, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
model = FineTuned(file)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for rows in torch.randperm(320).split(32):
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
