"""Prints a digest of losses and weights: one bit of difference changes it."""

import hashlib

import torch


def show(losses, model):
    sha = hashlib.sha256()
    for loss in losses:
        sha.update(torch.as_tensor(loss).detach().double().numpy().tobytes())
    for name, tensor in model.state_dict().items():
        sha.update(name.encode())
        sha.update(tensor.detach().reshape(-1).contiguous().view(torch.uint8).numpy().tobytes())
    sha.update(torch.get_rng_state().numpy().tobytes())
    print(len(losses), sha.hexdigest())
