import socket

import torch
from torch import nn

hub = socket.socket()
hub.bind(("127.0.0.1", 0))
hub.listen(4)
socket.create_connection(hub.getsockname(), timeout=1.7).close()
torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(8, 4)).pow(2).mean()
loss.backward()
optimizer.step()
