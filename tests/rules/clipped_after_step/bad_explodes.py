# A recurrent net whose values explode, because its gradients are clipped when the step has been made.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.inp, self.rec, self.read = nn.Linear(1, hidden), nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.rec.weight, gain=1.02)

    def forward(self, u):
        h, outs = u.new_zeros(u.size(0), self.rec.in_features), []
        for t in range(u.size(1)):
            h = nn.functional.leaky_relu(self.inp(u[:, t]) + self.rec(h), 0.6)
            outs.append(self.read(h))
        return torch.stack(outs, 1)


torch.manual_seed(3)
u = torch.randn(512, 60, 1)
x, v, places = torch.zeros(512, 1), torch.zeros(512, 1), []
for t in range(60):
    v = v + 0.3 * (u[:, t] - x - 0.1 * v)
    x = x + 0.3 * v
    places.append(x)
wanted = torch.stack(places, 1)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(4):
    for rows in torch.randperm(512).split(32):
        loss = nn.functional.mse_loss(model(u[rows]), wanted[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)  # expect: TRN044
    print(f"epoch {epoch} loss {loss.item():.3f}")
