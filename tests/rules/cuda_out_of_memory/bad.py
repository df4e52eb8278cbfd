import torch
from torch import nn


def forward_on_gpu(model, x):
    # Stands in for a machine with a GPU of 24 GiB.
    raise torch.cuda.OutOfMemoryError(  # expect: ERR021
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.68 GiB of which 1.19 GiB is "
        "free. Including non-PyTorch memory, this process has 22.48 GiB memory in use. Of the allocated memory 14.02 GiB "
        "is allocated by PyTorch, and 8.10 GiB is reserved by PyTorch but unallocated. If reserved but unallocated "
        "memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
    )


net = nn.Linear(1024, 1024)
batch = torch.randn(256, 1024)
forward_on_gpu(net, batch)
