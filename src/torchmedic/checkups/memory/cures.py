"""Cures for too large a training, put into effect while it runs on the pretended card."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.optim import Optimizer
from torch.utils.checkpoint import checkpoint

from torchmedic.checkups.memory.patches import Patches

_FEWEST_BLOCKS = 2


class Cure:
    """Does nothing; subclasses change the training at the points where they can, and count what they `changed`.

    What was so `already` needs no change.
    """

    changed = 0
    already = 0

    def begin(self, patches: Patches) -> None:
        """Called before the script."""

    def before_forward(self, root: torch.nn.Module) -> None:
        """Called when the outermost module is called."""

    def before_backward(self) -> None:
        """Called when the loss is there."""

    def before_step(self, optimizer: Optimizer) -> None:
        """Called before every optimizer step."""


class Autocast(Cure):
    """Forward pass and loss in half precision."""

    def __init__(self, dtype: torch.dtype, device: str) -> None:
        self._dtype, self._device = dtype, device
        self._context: Any = None

    def before_forward(self, root: torch.nn.Module) -> None:
        if self._context is not None or not torch.is_grad_enabled():
            return
        if torch.is_autocast_enabled(self._device):
            self.already += 1
        else:
            self.changed += 1
            self._context = torch.autocast(self._device, dtype=self._dtype)
            self._context.__enter__()

    def before_backward(self) -> None:
        if self._context is not None:
            self._context.__exit__(None, None, None)
            self._context = None


class Checkpointing(Cure):
    """Repeated blocks keep their input only, and are computed again in the backward pass."""

    def __init__(self) -> None:
        self._done: set[int] = set()

    def before_forward(self, root: torch.nn.Module) -> None:
        if id(root) in self._done:
            return
        self._done.add(id(root))
        enable: Any = getattr(root, "gradient_checkpointing_enable", None)
        if enable is not None:
            enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            self.changed += 1
            return
        for block in _blocks(root):
            _recompute(block)
            self.changed += 1


def _blocks(root: torch.nn.Module) -> list[torch.nn.Module]:
    """The members of a class that a container repeats, a head beside them or not; of nested ones, the outer."""
    found: list[torch.nn.Module] = []
    inside: set[int] = set()
    for part in root.modules():
        if id(part) in inside or not isinstance(part, (torch.nn.ModuleList, torch.nn.Sequential)):
            continue
        kinds = Counter(type(member) for member in part.children() if any(member.children()))
        members = [member for member in part.children() if kinds[type(member)] >= _FEWEST_BLOCKS]
        if members:
            found += members
            inside |= {id(module) for member in members for module in member.modules()}
    return found


def _recompute(block: torch.nn.Module) -> None:
    forward = block.forward

    def recomputed(*args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return forward(*args, **kwargs)
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    block.forward = recomputed


class FusedAttention(Cure):
    """`scaled_dot_product_attention` in place of attention that keeps its matrices (models of transformers)."""

    def before_forward(self, root: torch.nn.Module) -> None:
        for part in root.modules():
            config: Any = getattr(part, "config", None)
            if getattr(config, "_attn_implementation", None) == "eager":
                config._attn_implementation = "sdpa"
                self.changed += 1


class OptimizerOption(Cure):
    """Another way to compute the same update."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    def before_step(self, optimizer: Optimizer) -> None:
        for group in optimizer.param_groups:
            if group.get("fused") or all(group.get(name) == value for name, value in self._options.items()):
                self.already += 1
            elif all(name in group for name in self._options):
                group.update(self._options)
                self.changed += 1
        optimizer.defaults.update({k: v for k, v in self._options.items() if k in optimizer.defaults})


class GradientsDropped(Cure):
    """Gradients are let go between steps instead of being filled with zeros."""

    def begin(self, patches: Patches) -> None:
        for owner in (Optimizer, torch.nn.Module):
            patches.put(owner, "zero_grad", self._dropping(owner.zero_grad))

    def _dropping(self, zero_grad: Any) -> Any:
        def dropped(owner: Any, set_to_none: bool = True) -> None:
            if set_to_none:
                self.already += 1
            else:
                self.changed += 1
            zero_grad(owner, set_to_none=True)

        return dropped


def cure_named(name: str, device: str) -> Cure:
    """The cure behind a name of `Request.remedy`, for tensors of a device."""
    from torchmedic.checkups.memory.graph_cures import NodeBatches

    made = {
        "": Cure,
        "bf16": lambda: Autocast(torch.bfloat16, device),
        "fp16": lambda: Autocast(torch.float16, device),
        "checkpointing": Checkpointing,
        "sdpa": FusedAttention,
        "fused": lambda: OptimizerOption(fused=True, foreach=False),
        "foreach-off": lambda: OptimizerOption(foreach=False),
        "set-to-none": GradientsDropped,
        "node-batches": NodeBatches,
    }[name]
    return made()
