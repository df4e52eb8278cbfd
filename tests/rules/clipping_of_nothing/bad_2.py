"""A recurrent net whose gradients are clipped before there are any: it explodes within a few steps."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(128, 30, 1)
y = 20 * x.mean(1)
inward, again, out = nn.Linear(1, 32), nn.Linear(32, 32), nn.Linear(32, 1)
model = nn.ModuleList([inward, again, out])
nn.init.orthogonal_(again.weight)
optimizer = torch.optim.SGD(model.parameters(), lr=2e-2)
for step in range(40):
    state = torch.zeros(128, 32)
    for t in range(30):
        state = torch.relu(inward(x[:, t]) + again(state))
    loss = nn.functional.mse_loss(out(state), y)
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: TRN042
    loss.backward()
    optimizer.step()
