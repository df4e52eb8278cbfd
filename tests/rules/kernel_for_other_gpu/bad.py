import torch
from torch import nn


def run_on_gpu(model, x):
    # Stands in for a machine whose GPU is newer than the build of torch.
    if not torch.cuda.is_available():
        raise RuntimeError(  # expect: ERR275
            "CUDA error: no kernel image is available for execution on the device\n"
            "CUDA kernel errors might be asynchronously reported at some other API call."
        )
    return model.cuda()(x.cuda())


torch.manual_seed(0)
run_on_gpu(nn.Linear(4, 2), torch.randn(8, 4))
