"""What an answer was computed from, told by the graph that is there anyway: nothing of the user's runs again."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchmedic.probes.graph.graph_walk import graph


def is_safe_to_follow(answers: torch.Tensor, modules: Any) -> bool:
    """Whether a backward pass more would run no code of the user's: no hooks, no `autograd.Function` of their own."""
    if any(m._backward_hooks or m._backward_pre_hooks for m in modules if isinstance(m, nn.Module)):
        return False
    nodes = {answers.grad_fn, *(following for _, following in graph((answers,)))}
    return not any(isinstance(node, torch.autograd.function.BackwardCFunction) for node in nodes)


def reached(answers: torch.Tensor, index: tuple[Any, ...], tensor: torch.Tensor) -> torch.Tensor | None:
    """How much each value of `tensor` had a part in the answers at `index`; None where it had none at all."""
    seed = torch.zeros_like(answers, requires_grad=False)
    chosen = seed[index]
    # Not all alike: a sum of probabilities depends on nothing.
    seed[index] = torch.linspace(-1, 2, chosen.numel(), dtype=seed.dtype, device=seed.device).reshape(chosen.shape)
    # Not through the name that is watched: this is no call of the script's.
    follow = getattr(torch.autograd.grad, "__wrapped__", torch.autograd.grad)
    (found,) = follow((answers,), (tensor,), grad_outputs=(seed,), retain_graph=True, allow_unused=True)
    return None if found is None else found.detach().abs()
