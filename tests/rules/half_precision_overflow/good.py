import torch
from torch import nn


class Prototypes(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(16, 64)
        self.centres = nn.Parameter(torch.randn(4, 64))

    def forward(self, x):
        code = self.encode(x).float()
        squared = (code * code).sum(1, keepdim=True)
        return -(squared - 2 * code @ self.centres.t().to(code.dtype))


torch.manual_seed(8)
x = torch.randn(32, 16) * 90
y = torch.randint(0, 4, (32,))
net = Prototypes()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
for step in range(3):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(net(x).float(), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
