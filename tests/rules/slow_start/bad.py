import socket

import torch
from torch import nn

# Stands in for a hub behind a firewall: a port whose queue is full, so that connecting hangs.
hub = socket.socket()
hub.bind(("127.0.0.1", 0))
hub.listen(0)
held = [socket.socket() for _ in range(2)]
for one in held:
    one.setblocking(False)
    one.connect_ex(hub.getsockname())


def look_up_config():
    for attempt in range(3):
        try:
            socket.create_connection(hub.getsockname(), timeout=1.7).close()  # expect: ENV012
        except OSError:
            continue


look_up_config()
torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(8, 4)).pow(2).mean()
loss.backward()
optimizer.step()
