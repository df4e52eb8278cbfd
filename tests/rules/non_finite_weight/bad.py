import torch
from torch import nn

torch.manual_seed(21)
saved = nn.Linear(5, 3).state_dict()
saved["bias"][1] = float("nan")
torch.save(saved, "encoder.pt")

net = nn.Linear(5, 3)
net.load_state_dict(torch.load("encoder.pt"))  # expect: NUM024
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 5), torch.randint(0, 3, (32,))
for step in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
