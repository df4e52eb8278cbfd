"""Walks what is alive after a crash: the autograd graph behind a tensor, and the names that hold tensors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from torchmedic.facts import Holder
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.frames import file_of, is_user_file, location_of

MOST_NODES = 20_000
_MOST_HOLDERS = 2000
_MOST_ITEMS = 50
_DEEPEST = 2


def backward_roots(frames: list[FrameType]) -> tuple[torch.Tensor, ...]:
    """The tensors that the failing `backward` or `autograd.grad` started from."""
    for frame in reversed(frames):
        if frame.f_code.co_name not in ("backward", "grad") or is_user_file(frame.f_code.co_filename):
            continue
        for name in ("tensors", "outputs", "self"):
            thing = frame.f_locals.get(name)
            found = (thing,) if isinstance(thing, torch.Tensor) else thing
            if isinstance(found, (tuple, list)) and found and all(isinstance(t, torch.Tensor) for t in found):
                return tuple(found)
    return ()


def graph(roots: tuple[torch.Tensor, ...]) -> Iterator[tuple[Any, Any]]:
    """Every edge `(node, next node)` of the graph behind some tensors, nearest first."""
    waiting = [t.grad_fn for t in roots if t.grad_fn is not None]
    seen = set(waiting)
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop(0)
        for following, _ in node.next_functions:
            if following is None:
                continue
            yield node, following
            if following not in seen:
                seen.add(following)
                waiting.append(following)


def is_leaf_node(node: Any) -> bool:
    return bool(node.name().endswith("AccumulateGrad"))


def output_shape(node: Any) -> tuple[int, ...]:
    """The shape of what a node's forward operation put out."""
    try:
        return tuple(int(n) for n in node._input_metadata[0].shape)
    except (AttributeError, IndexError, RuntimeError, TypeError):
        return ()


def holders(frames: list[FrameType]) -> Iterator[tuple[Holder, torch.Tensor]]:
    """Every live tensor that the user's frames can reach by name, innermost frame first."""
    known: set[tuple[str, int]] = set()
    own = [f for f in reversed(frames) if is_user_file(f.f_code.co_filename)]
    places = [(f, f.f_locals) for f in own] + [(f, f.f_globals) for f in own[-1:]]
    for frame, names in places:
        where = location_of(frame)
        function = "" if names is frame.f_globals else where.function
        for name, thing in list(names.items()):
            if name.startswith("__"):
                continue
            for path, kind, owner, tensor in _tensors_in(name, thing):
                if (path, id(tensor)) in known or len(known) > _MOST_HOLDERS:
                    continue
                known.add((path, id(tensor)))
                yield _holder(path, kind, owner, function, where.file, tensor), tensor


def _holder(path: str, kind: str, owner: str, function: str, file: str, tensor: torch.Tensor) -> Holder:
    return Holder(
        name=path,
        kind=kind,
        owner=owner,
        function=function,
        file=file,
        shape=tuple(int(n) for n in tensor.shape),
        version=int(tensor._version),
        grad_fn=tensor.grad_fn.name() if tensor.grad_fn is not None else "",
    )


def _tensors_in(name: str, thing: Any, depth: int = 0) -> Iterator[tuple[str, str, str, torch.Tensor]]:
    if isinstance(thing, torch.nn.Module):
        for path, module in thing.named_modules():
            prefix = f"{name}.{path}" if path else name
            for attribute, item in list(vars(module).items()):
                if attribute not in ("_parameters", "_buffers", "_modules"):
                    yield from _contained(f"{prefix}.{attribute}", "attribute", type_name(module), item)
            for parameter, p in module.named_parameters(recurse=False):
                yield from [(f"{prefix}.{parameter}", "parameter", type_name(module), p)] * (not is_lazy(p))
            for buffer, b in module.named_buffers(recurse=False):
                yield from [(f"{prefix}.{buffer}", "attribute", type_name(module), b)] * (not is_lazy(b))
    elif isinstance(thing, (list, tuple)) and any(isinstance(item, torch.nn.Module) for item in thing[:_MOST_ITEMS]):
        for position, item in enumerate(thing[:_MOST_ITEMS]):
            yield from _tensors_in(f"{name}[{position}]", item)
    else:
        yield from _contained(name, "variable", "", thing)
        if _is_users_own(thing):
            for attribute, item in list(vars(thing).items())[:_MOST_ITEMS]:
                yield from _contained(f"{name}.{attribute}", "attribute", type_name(thing), item)
                if depth < _DEEPEST and (isinstance(item, torch.nn.Module) or is_user_file(file_of(type(item)))):
                    # A trainer holds the model that holds the tensor.
                    yield from _tensors_in(f"{name}.{attribute}", item, depth + 1)


def _contained(name: str, kind: str, owner: str, thing: Any) -> Iterator[tuple[str, str, str, torch.Tensor]]:
    if isinstance(thing, torch.Tensor):
        yield name, kind, owner, thing
    elif isinstance(thing, dict):
        for key, item in pairs_in(thing)[:_MOST_ITEMS]:
            path = f"{name}[{key!r}]" if isinstance(key, (str, int)) else name
            yield from ((path, kind, owner, t) for t in ([item] if isinstance(item, torch.Tensor) else _pair(item)))
    elif isinstance(thing, (list, tuple, deque)):
        for item in list(thing)[-_MOST_ITEMS:]:
            yield from ((name, kind, owner, t) for t in ([item] if isinstance(item, torch.Tensor) else _pair(item)))


def _pair(item: Any) -> list[torch.Tensor]:
    return [t for t in item if isinstance(t, torch.Tensor)] if isinstance(item, (list, tuple)) else []


def _is_users_own(thing: Any) -> bool:
    kind = type(thing)
    return hasattr(thing, "__dict__") and not isinstance(thing, type) and kind.__module__ not in ("builtins", "torch")
