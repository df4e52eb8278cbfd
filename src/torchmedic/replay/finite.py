"""Whether tensors hold NaN or infinity, asked as cheaply as their kinds allow."""

from __future__ import annotations

import math

import torch

_found = torch.zeros(())
_scale_of_one = torch.ones(())


def bad_tensors(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Those with NaN or infinity; only when one call over all of them raises the question is each looked into."""
    if not tensors or _all_finite_at_once(tensors):
        return []
    dense = [t._values() if t.layout == torch.sparse_coo else t for t in tensors]
    dense = [t.detach() for t in dense if t.numel() and t.layout == torch.strided and not t.is_complex()]
    # A norm overflows on large finite values, so it too only raises the question.
    if not dense or math.isfinite(_norm(dense)):
        return []
    return [t for t in dense if not bool(torch.isfinite(t).all())]


def _all_finite_at_once(tensors: list[torch.Tensor]) -> bool:
    """One pass by the check that gradient scalers use; it multiplies by 1, which keeps every bit.

    It works on `.data`, whose version counter is its own: a graph that saved a gradient must not see it as changed.
    False where it found something, for kinds it does not take (sparse, complex, overlapping, on a device), and while
    operations are traced: a trace would take it for the maker of the gradients.
    """
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return False
    try:
        torch._amp_foreach_non_finite_check_and_unscale_([t.data for t in tensors], _found, _scale_of_one)
        if not _found.item():
            return True
        _found.zero_()
    except (RuntimeError, TypeError):
        _found.zero_()
    return False


def _norm(tensors: list[torch.Tensor]) -> float:
    norms = torch._foreach_norm(tensors)
    alike = len({n.dtype for n in norms}) == 1
    return float(torch.stack(norms if alike else [n.float() for n in norms]).sum())
