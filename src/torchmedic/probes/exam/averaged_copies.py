"""Finds copies of trained weights that no optimizer steps: averaged models, teachers, shadows in dicts and lists."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parameter import is_lazy
from torch.optim import swa_utils

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.objects.holdings import is_plain_user_object
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.probes.source.sources import hung_at, variable_made_at

_MOST_MODULES = 1_000
_MOST_PAIRS = 4
_AVERAGE = re.compile(r"(?<![a-z])(ema|ewma|polyak|shadow|averaged?|avg|swa)(?![a-z])", re.IGNORECASE)

Weights = dict[str, torch.Tensor]
Names = dict[str, Any]


@late_dataclass(frozen=True)
class Pair:
    """A trained module and what looks like a copy of it; `read` gives the copy's weights, by the module's names."""

    name: str
    model: weakref.ref[nn.Module]
    read: Callable[[Names], Weights | None]
    copy: weakref.ref[nn.Module] | None = None

    @property
    def is_named_so(self) -> bool:
        """Whether the user calls it an average."""
        return _is_average(self.name)

    @property
    def by_torch(self) -> bool:
        return self.copy is not None and isinstance(self.copy(), swa_utils.AveragedModel)


def find_pairs(alive: Iterable[nn.Module], trained: set[int], names: Names) -> list[Pair]:
    """Copies among the living modules, and among what the user has a name for."""
    modules = [m for m, _ in zip(alive, range(_MOST_MODULES), strict=False) if any(True for _ in m.parameters())]
    originals = _originals(modules, trained)
    found = [*_module_pairs(modules, originals, trained, names), *_container_pairs(originals, names)]
    return found[:_MOST_PAIRS]


def made_at(name: str, names: Names) -> Location | None:
    """Where a variable or an attribute of this name got its value."""
    owner, _, attribute = name.rpartition(".")
    return hung_at(type(names.get(owner)), attribute) if owner else variable_made_at(name)


def weights_of(module: nn.Module) -> Weights:
    inner = module.module if isinstance(module, swa_utils.AveragedModel) else module
    return {name: p for name, p in inner.named_parameters() if not is_lazy(p)}


def unseen_layers(pair: Pair) -> tuple[str, ...]:
    """Normalisation layers of a copy that have seen no batch, where those of the model have."""
    model, copy = pair.model(), pair.copy() if pair.copy is not None else None
    if model is None or copy is None or model is copy:
        return ()
    mine = dict(model.named_modules())
    its = dict((copy.module if isinstance(copy, swa_utils.AveragedModel) else copy).named_modules())
    return tuple(
        name
        for name, layer in its.items()
        if isinstance(layer, _BatchNorm) and _has_seen(mine.get(name)) and not _has_seen(layer)
    )


def stale_buffers(pair: Pair) -> tuple[str, ...]:
    """Those of them that would answer with the statistics of a new layer: in training they gather their own."""
    copy = pair.copy() if pair.copy is not None else None
    its = dict((copy.module if isinstance(copy, swa_utils.AveragedModel) else copy).named_modules()) if copy else {}
    return tuple(name for name in unseen_layers(pair) if not its[name].training)


def _has_seen(layer: Any) -> bool:
    """Whether a layer's statistics are no longer those it was built with."""
    mean, spread = getattr(layer, "running_mean", None), getattr(layer, "running_var", None)
    if mean is None or spread is None:
        return False
    return bool((mean != 0).any()) or bool((spread != 1).any())


def _signature(weights: Weights) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((name, tuple(tensor.shape)) for name, tensor in weights.items())


def _originals(modules: list[nn.Module], trained: set[int]) -> dict[Any, nn.Module]:
    """Modules all of whose weights are trained, by the names and shapes of those; the outermost of a kind."""
    found: dict[Any, nn.Module] = {}
    for module in modules:
        weights = weights_of(module)
        if all(id(weight) in trained for weight in weights.values()):
            found.setdefault(_signature(weights), module)
    return found


def _module_pairs(
    modules: list[nn.Module], originals: dict[Any, nn.Module], trained: set[int], names: Names
) -> Iterator[Pair]:
    taken: set[int] = set()
    copies = [m for m in modules if not any(id(p) in trained for p in m.parameters())]
    for copy in sorted(copies, key=lambda m: -sum(1 for _ in m.parameters())):
        original = originals.get(_signature(weights_of(copy)))
        if original is None or any(id(weight) in taken for weight in copy.parameters()):
            continue
        taken |= {id(weight) for weight in copy.parameters()}
        reference = weakref.ref(copy)
        name = next((name for name, thing in names.items() if thing is copy), type(copy).__name__)
        yield Pair(name, weakref.ref(original), _reader(reference), reference)
    for name, thing in names.items():
        if isinstance(thing, nn.Module) and any(thing is original for original in originals.values()):
            other = next((n for n, t in names.items() if t is thing and not _is_average(n)), None)
            # An average may well know the model that it follows, as `ema.model`: that is not called an average.
            if _is_average(name.rpartition(".")[2]) and other is not None:
                yield Pair(name, weakref.ref(thing), _reader(weakref.ref(thing)))


def _is_average(name: str) -> bool:
    return bool(_AVERAGE.search(name.replace("_", " ")))


def _reader(reference: weakref.ref[nn.Module]) -> Callable[[Names], Weights | None]:
    def read(_names: Names) -> Weights | None:
        module = reference()
        return None if module is None else weights_of(module)

    return read


def _container_pairs(originals: dict[Any, nn.Module], names: Names) -> Iterator[Pair]:
    for name, thing in names.items():
        for original in originals.values():
            if as_weights(thing, original) is not None:
                yield Pair(name, weakref.ref(original), _lookup(name, weakref.ref(original)))
                break


def _lookup(name: str, original: weakref.ref[nn.Module]) -> Callable[[Names], Weights | None]:
    """Found anew by its name each time: holding it would keep the user's tensors alive."""

    def read(names: Names) -> Weights | None:
        model = original()
        return None if model is None else as_weights(names.get(name), model)

    return read


def as_weights(thing: Any, original: nn.Module) -> Weights | None:
    """A dict or list of tensors as weights of a module, where names or order and shapes are those of its own."""
    if not isinstance(thing, (dict, list, tuple)):
        return None
    mine = {name: weight for name, weight in weights_of(original).items() if weight.requires_grad}
    found: dict[str, Any] = {}
    if isinstance(thing, dict):
        held = dict(pairs_in(thing))
        found = {name: held.get(name) for name in mine} if len(held) >= len(mine) else {}
    elif len(thing) == len(mine):
        found = dict(zip(mine, thing, strict=True))
    fits = all(
        isinstance(t, torch.Tensor) and not is_lazy(t) and t.shape == mine[name].shape for name, t in found.items()
    )
    trained = all(t is mine[name] for name, t in found.items())
    return found if found and fits and not trained else None


def named_from(frame: FrameType) -> Names:
    """What the user's frames can name."""
    spaces: list[dict[str, Any]] = []
    for above in outward(frame):
        if is_user_file(above.f_code.co_filename):
            spaces += [above.f_locals, above.f_globals]
    return named_in(spaces)


def named_in(spaces: Iterable[dict[str, Any]]) -> Names:
    """Variables by name, the innermost of a name, and the attributes of the objects of the user's classes."""
    found: Names = {}
    for space in spaces:
        for name, thing in list(space.items()):
            if name in found or name.startswith("__"):
                continue
            found[name] = thing
            inside = _attributes(name, thing)
            found |= inside
            # An average that keeps its weights in an object of its own, as of a trainer's: `self.ema.shadow`.
            for path in filter(_is_average, inside):
                found |= _attributes(path, inside[path])
    return found


def _attributes(name: str, thing: Any) -> Names:
    if not is_plain_user_object(thing) or isinstance(thing, torch.Tensor):
        return {}
    kept = {**vars(thing), **vars(thing).get("_modules", {})}
    return {f"{name}.{attribute}": item for attribute, item in kept.items()}
