"""True values beside fake tensors: indices, masks and small numbers keep what they would be on the card."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_map

_NAME = "_torchmedic_value"
_MOST_WHOLE = 64 << 20
_MOST_FLOAT = 2 << 20
_MOST_DRAWN = 48 << 20

aten = torch.ops.aten
_KEEPS_ITS_VALUE = {aten._amp_foreach_non_finite_check_and_unscale_.default}


def tensors_in(things: Iterable[Any]) -> list[torch.Tensor]:
    """The tensors among the arguments or results of an operation, which nest in lists and tuples only."""
    found: list[torch.Tensor] = []
    for thing in things:
        if isinstance(thing, torch.Tensor):
            found.append(thing)
        elif isinstance(thing, (list, tuple)):
            found += tensors_in(thing)
    return found


def value_of(tensor: Any) -> torch.Tensor | None:
    """The true value of a tensor on the CPU, where it is known."""
    if not isinstance(tensor, FakeTensor):
        return tensor if isinstance(tensor, torch.Tensor) else None
    value: torch.Tensor | None = tensor.__dict__.get(_NAME)
    if value is not None and getattr(value.untyped_storage(), "stale", False):
        return None
    return value


def give_value(tensor: Any, value: torch.Tensor) -> None:
    if isinstance(tensor, FakeTensor):
        tensor.__dict__[_NAME] = value


def without_value(tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor for operations whose results nobody reads: what is made of it has no value either."""
    same = tensor.view_as(tensor)
    same.__dict__.pop(_NAME, None)
    return same


def _forget(tensor: Any) -> None:
    """The tensor was changed in a way that cannot be followed: its value and all views of it are void."""
    value = tensor.__dict__.get(_NAME) if isinstance(tensor, FakeTensor) else None
    if value is not None:
        value.untyped_storage().stale = True
        del tensor.__dict__[_NAME]


def worth_keeping(tensor: torch.Tensor) -> bool:
    """Whole numbers decide about shapes; floats do so rarely, and only small ones are worth their room."""
    if tensor.layout is not torch.strided:
        return False
    limit = _MOST_FLOAT if tensor.is_floating_point() or tensor.is_complex() else _MOST_WHOLE
    return tensor.numel() <= limit


class Values:
    """Computes values along with the fake operations, as far as that is cheap."""

    def __init__(self) -> None:
        self._drawn = 0

    def follow(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        """Give the results of an operation their values, if all its operands have theirs."""
        results = [leaf for leaf in tensors_in((out,)) if isinstance(leaf, FakeTensor)]
        if not results or func in _KEEPS_ITS_VALUE:
            return
        assumed = _of_finite_numbers(func, args)
        if assumed is not None:
            give_value(results[0], torch.tensor(assumed).expand(results[0].shape))
            return
        operands = tensors_in((*args, *kwargs.values()))
        if all(value_of(t) is not None for t in operands) and all(worth_keeping(t) for t in (*operands, *results)):
            computed = self.compute(func, args, kwargs)
            if computed is not None:
                self._attach(out, computed)
                return
        if func._schema.is_mutable:
            for result in results:
                _forget(result)

    def compute(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The operation on the true values, or None where it cannot be done."""
        if any(value_of(t) is None for t in tensors_in((*args, *kwargs.values()))):
            return None
        real_args, real_kwargs = tree_map(_real, (args, kwargs))
        if "device" in real_kwargs:
            real_kwargs["device"] = torch.device("cpu")
        real_kwargs.pop("pin_memory", None)
        state = torch.get_rng_state()
        try:
            return func(*real_args, **real_kwargs)
        except (RuntimeError, NotImplementedError, IndexError, TypeError):
            return None
        finally:
            torch.set_rng_state(state)

    def draw(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Consume random numbers of the CPU as the true initialisation would, so that later ones are the true ones."""
        if torch.Tag.nondeterministic_seeded not in func.tags or not args or not isinstance(args[0], FakeTensor):
            return
        target = args[0]
        self._drawn += target.numel()
        if self._drawn > _MOST_DRAWN or target.fake_device.type != "cpu" or not func._schema.is_mutable:
            return
        scratch = torch.empty(target.shape, dtype=target.dtype)
        func(scratch, *args[1:], **kwargs)

    def _attach(self, out: Any, computed: Any) -> None:
        for fake, real in zip(tensors_in((out,)), tensors_in((computed,)), strict=False):
            if isinstance(fake, FakeTensor) and fake.shape == real.shape:
                give_value(fake, real)


def _real(thing: Any) -> Any:
    if isinstance(thing, torch.device):
        return torch.device("cpu")
    return value_of(thing) if isinstance(thing, FakeTensor) else thing


def _of_finite_numbers(func: Any, args: Iterable[Any]) -> bool | None:
    """What a test for NaN or infinity says of numbers that are unknown and taken for finite ones."""
    operands = list(args)
    if not operands or value_of(operands[0]) is not None:
        return None
    if func is aten.isnan.default or func is aten.isinf.default:
        return False
    same = len(operands) > 1 and operands[1] is operands[0]
    infinite = len(operands) > 1 and isinstance(operands[1], float) and operands[1] in (float("inf"), float("-inf"))
    if value_of(operands[0] if operands else None) is not None:
        return None
    if (func is aten.ne.Tensor and same) or (func is aten.eq.Scalar and infinite):
        return False
    if (func is aten.eq.Tensor and same) or (func is aten.ne.Scalar and infinite):
        return True
    return None
