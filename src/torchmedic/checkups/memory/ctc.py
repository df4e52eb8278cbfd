"""The CTC loss as the card computes it: one kernel, with a table over time and text that backward needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from torchmedic.checkups.memory.values import value_of

if TYPE_CHECKING:
    from torchmedic.checkups.memory.patches import Patches
    from torchmedic.checkups.memory.world import World

# How the reduction is named by number when it comes to `torch.ctc_loss`.
_NONE, _MEAN = 0, 1


def install_ctc(patches: Patches, world: World) -> None:
    """Let the CTC loss of tensors on the card run as one kernel."""
    original: Any = torch.ctc_loss

    def ctc_loss(
        log_probs: Any,
        targets: Any,
        input_lengths: Any,
        target_lengths: Any,
        blank: int = 0,
        reduction: int = _MEAN,
        zero_infinity: bool = False,
    ) -> Any:
        if not isinstance(log_probs, FakeTensor) or log_probs.device.type != world.device:
            return original(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
        batched = log_probs if log_probs.dim() == 3 else log_probs.unsqueeze(1)
        each = _Ctc.apply(batched, _longest(world, target_lengths, targets))  # type: ignore[no-untyped-call]
        if zero_infinity:
            each = torch.where(each == float("inf"), torch.zeros_like(each), each)
        if reduction == _NONE:
            return each if log_probs.dim() == 3 else each.squeeze(0)
        return each.mean() if reduction == _MEAN else each.sum()

    patches.put(torch, "ctc_loss", ctc_loss)


def _longest(world: World, lengths: Any, targets: torch.Tensor) -> int:
    """The length of the longest text: that of the padded ones where the lengths are unknown."""
    known = value_of(lengths) if isinstance(lengths, torch.Tensor) else torch.tensor(lengths)
    if known is not None and known.numel():
        return int(known.max())
    world.assume("the lengths of texts are computed on the card; taken for the longest possible")
    return targets.shape[-1]


class _Ctc(torch.autograd.Function):
    """Negative log-likelihoods, and a table of as many columns as a text has letters and gaps."""

    @staticmethod
    def forward(ctx: Any, log_probs: Any, longest: int) -> Any:
        steps, samples, _ = log_probs.shape
        table = log_probs.new_empty((samples, steps, 2 * longest + 1))
        ctx.save_for_backward(log_probs, table)
        return log_probs.new_empty((samples,))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        log_probs, table = ctx.saved_tensors
        backwards = torch.empty_like(table)
        gradient = torch.empty_like(log_probs)
        del backwards
        return gradient, None
