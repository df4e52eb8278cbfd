"""Who holds a tensor or a module: registered parameters by path, and what hangs on a module unregistered."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from torchmedic.late import late_dataclass
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.frames import file_of, is_user_file

_OWN_STORES = frozenset(vars(nn.Module()))
_MOST_ITEMS = 2_000
_MOST_COMPARED = 50_000_000  # elements


@late_dataclass(frozen=True)
class Registered:
    """A parameter in its module: `path` is dotted below `root`."""

    module: nn.Module
    attribute: str
    root: nn.Module
    path: str


@late_dataclass(frozen=True)
class Hung:
    """Something reachable from a module by a plain attribute."""

    owner: nn.Module
    attribute: str
    container: str
    path: str


def registered(roots: Iterable[nn.Module]) -> dict[int, Registered]:
    """Every parameter below the roots, by identity."""
    found: dict[int, Registered] = {}
    for root in roots:
        for prefix, module in root.named_modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    path = f"{prefix}.{name}" if prefix else name
                    found.setdefault(id(parameter), Registered(module, name, root, path))
    return found


def hung(modules: Iterable[nn.Module]) -> Iterator[tuple[Any, Hung]]:
    """Modules, and tensors that need a gradient, that hang on modules by plain attributes."""
    # A scripted or traced module holds its compiled self so, and registers what is in it.
    for owner in (module for module in modules if not isinstance(module, torch.jit.ScriptModule)):
        for attribute, thing in list(owner.__dict__.items()):
            if attribute not in _OWN_STORES:
                for found, path, container in _inside(thing, attribute, "", 3):
                    yield found, Hung(owner, attribute, container, path)


def _inside(thing: Any, path: str, container: str, depth: int) -> Iterator[tuple[Any, str, str]]:
    if isinstance(thing, nn.Module) or (isinstance(thing, torch.Tensor) and thing.requires_grad):
        yield thing, path, container
        return
    if depth == 0:
        return
    for label, item in _items(thing):
        yield from _inside(item, f"{path}{label}", container or _container(thing), depth - 1)


def _container(thing: Any) -> str:
    if isinstance(thing, (FunctionType, functools.partial)):
        return "function"
    return type(thing).__name__


def _items(thing: Any) -> list[tuple[str, Any]]:
    if isinstance(thing, dict):
        return [(f"[{key!r}]", item) for key, item in pairs_in(thing)[:_MOST_ITEMS]]
    if isinstance(thing, (list, tuple, set, frozenset)):
        return [(f"[{i}]", item) for i, item in enumerate(list(thing)[:_MOST_ITEMS])]
    if isinstance(thing, functools.partial):
        return [("", item) for item in (thing.func, *thing.args, *thing.keywords.values())]
    if isinstance(thing, FunctionType):
        cells = thing.__closure__ or ()
        names = thing.__code__.co_freevars
        return [(f" over `{n}`", c.cell_contents) for n, c in zip(names, cells, strict=False) if _is_full(c)]
    if is_plain_user_object(thing):
        return [(f".{name}", item) for name, item in list(vars(thing).items())[:_MOST_ITEMS]]
    return []


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def is_plain_user_object(thing: Any) -> bool:
    return hasattr(thing, "__dict__") and not isinstance(thing, type) and is_user_file(file_of(type(thing)))


def leaves_of(roots: Iterable[Any]) -> list[torch.Tensor]:
    """The leaf tensors that backward from these tensors would reach."""
    waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
    found = [root for root in roots if root.grad_fn is None and root.requires_grad]
    seen = set(waiting)
    while waiting:
        node = waiting.pop()
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.append(variable)
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return found


@late_dataclass()
class Fingerprint:
    """Enough of a tensor's values to tell whether it changed."""

    values: torch.Tensor

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Fingerprint:
        return cls(_sampled(tensor).clone())

    def fits(self, tensor: torch.Tensor) -> bool:
        now = _sampled(tensor)
        return now.shape == self.values.shape and now.dtype == self.values.dtype and bool(_same(now, self.values))


def are_unlike(then: Fingerprint, now: Fingerprint) -> bool:
    """Whether values have nothing to do with those they were: training, rounding and pruning leave a likeness."""
    if then.values.shape != now.values.shape or then.values.numel() < 4:
        return False
    before, after = then.values.double().cpu(), now.values.double().cpu()
    before = before[after != 0]
    after = after[after != 0]
    size = float(before.norm() * after.norm())
    return size > 0 and abs(float(before @ after)) / size < 0.5


def _sampled(tensor: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        flat = tensor.detach().flatten()
        return flat[:: max(1, flat.numel() // 512)]


def _same(now: torch.Tensor, then: torch.Tensor) -> bool:
    if now.device != then.device:
        now = now.to(then.device)
    return torch.equal(now, then)


def are_copies(parameters: list[nn.Parameter], roots: Iterable[nn.Module]) -> bool:
    """Whether each is equal to a parameter of some module, and they are more than constants, which many share."""
    if not parameters or sum(p.numel() for p in parameters) > _MOST_COMPARED:
        return False
    by_shape: dict[Any, list[torch.Tensor]] = {}
    for own in (own for root in roots for own in root.parameters() if not is_lazy(own)):
        by_shape.setdefault((own.shape, own.dtype, own.device), []).append(own)
    drawn = any(p.numel() > 1 and bool((p != p.flatten()[0]).any()) for p in parameters)
    return drawn and all(
        any(torch.equal(p, own) for own in by_shape.get((p.shape, p.dtype, p.device), ())) for p in parameters
    )
