import torch
from torch import nn


def train_on_gpu(model, x, label):
    # Stands in for a machine with a GPU, which reports a label of 10 in ten classes like this.
    if not torch.cuda.is_available():
        raise RuntimeError(  # expect: ERR020
            "CUDA error: device-side assert triggered\n"
            "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might "
            "be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1"
        )
    model, x, label = model.cuda(), x.cuda(), label.cuda()
    loss = nn.functional.cross_entropy(model(x), label)
    return loss.item()


torch.manual_seed(0)
net = nn.Linear(4, 10)
train_on_gpu(net, torch.randn(8, 4), torch.full((8,), 10))
