import torch
from torch import nn


def all_reduce_gradients(model):
    # Stands in for a rank of a cluster whose neighbour has died.
    raise RuntimeError(  # expect: ERR274
        "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1187, OpType=ALLREDUCE, "
        "NumelIn=26214400, Timeout(ms)=600000) ran for 600011 milliseconds before timing out."
    )


torch.manual_seed(0)
net = nn.Linear(4, 1)
net(torch.randn(8, 4)).sum().backward()
all_reduce_gradients(net)
