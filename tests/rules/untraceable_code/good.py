import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        h = self.inner(x)
        h = h.clamp(-5.0, 5.0)
        return h.sum()


torch.manual_seed(0)
model = Gate()
fast = torch.compile(model, fullgraph=True, backend="eager")
opt = torch.optim.SGD(model.parameters(), lr=0.01)
loss = fast(torch.randn(8, 4))
loss.backward()
opt.step()
