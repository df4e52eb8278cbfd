"""A training whose ranks are to meet at a port on which something else listens."""
import os
import socket

import torch
import torch.distributed as dist
from torch import nn


def set_up():
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "20613"  # expect: ERR283
    dist.init_process_group("gloo", rank=0, world_size=1)


# Stands in for the training of a colleague on the same machine.
earlier = socket.create_server(("127.0.0.1", 20_600 + 13))
set_up()
model = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
model(torch.randn(8, 4)).sum().backward()
