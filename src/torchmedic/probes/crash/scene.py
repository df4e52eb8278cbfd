"""Looks round when the script has died: its source, the loaders and models its frames held."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any, TypeGuard

import torch
from torch.utils.data import DataLoader

from torchmedic.facts import (
    GradModeAtCrash,
    HiddenLayers,
    LayerBuilt,
    LoaderAtCrash,
    Location,
    ModelAtCrash,
    SourceFile,
)
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.objects.values import module_fact, type_name
from torchmedic.probes.source.frames import is_user_file, shown_path
from torchmedic.probes.source.sources import hung_at, user_files_behind
from torchmedic.record import Probe
from torchmedic.redaction import redact

_MOST_FILES = 40
_LONGEST_FILE = 300_000
_MOST_NON_FINITE = 8
_LOADERS_AND_MODELS = 12
_MOST_LAYERS = 200


class CrashScene(Probe):
    """Writes down what rules need to read a crash and what frames alone do not hold."""

    name = "crash-scene"

    def __init__(self, modules: Modules, loaders: Loaders) -> None:
        self._modules = modules
        self._loaders = loaders

    def on_crash(self, error: BaseException) -> None:
        frames = [f for f, _ in traceback.walk_tb(error.__traceback__)]
        for file in [file for file in user_files_behind(frames) if file.endswith(".py")][:_MOST_FILES]:
            text = "".join(linecache.getlines(file))
            if 0 < len(text) <= _LONGEST_FILE:
                self.recorder.observe(SourceFile(file=shown_path(file), text=redact(text)))
        self.recorder.observe(GradModeAtCrash(enabled=torch.is_grad_enabled()))
        self._layers(frames)
        seen: set[int] = set()
        for name, thing in named_objects(frames):
            if id(thing) in seen or len(seen) >= _LOADERS_AND_MODELS:
                continue
            if isinstance(thing, DataLoader):
                seen.add(id(thing))
                self.recorder.observe(_loader(name, thing, self._loaders.built_at(thing)))
            elif _is_whole_module(thing):
                seen.add(id(thing))
                self.recorder.observe(_model(name, thing))

    def _layers(self, frames: list[FrameType]) -> None:
        """Where the layers were built: of the outermost module being called, else of the models at hand."""
        called = (f.f_locals.get("self") for f in frames)
        roots = [owner for owner in called if _is_whole_module(owner)][:1]
        roots += [thing for _, thing in named_objects(frames) if _is_whole_module(thing)]
        known: set[tuple[str, str]] = set()
        for path, layer in (pair for root in roots for pair in root.named_modules()):
            birth = self._modules.birth(layer)
            born = birth.where if birth is not None else None
            key = (path, type_name(layer))
            if birth is not None and born is not None and key not in known and len(known) < _MOST_LAYERS:
                known.add(key)
                settings = module_fact(layer).settings
                self.recorder.observe(
                    LayerBuilt(path=path, type=key[1], location=born, settings=settings, callers=birth.callers)
                )


def _is_whole_module(thing: Any) -> TypeGuard[torch.nn.Module]:
    """Not one whose `__init__` has not called that of `nn.Module`: it has no layers to be asked for."""
    return isinstance(thing, torch.nn.Module) and "_modules" in vars(thing)


def named_objects(frames: list[FrameType]) -> Iterator[tuple[str, Any]]:
    """The variables of the user's frames, innermost frame first, then their globals."""
    own = [f for f in reversed(frames) if is_user_file(f.f_code.co_filename)]
    for frame in own:
        yield from list(frame.f_locals.items())
    for frame in own:
        yield from list(frame.f_globals.items())


def _loader(name: str, loader: Any, built: Location | None) -> LoaderAtCrash:
    try:
        samples = len(loader.sampler) if loader.sampler is not None else len(loader.dataset)
    except (TypeError, NotImplementedError):
        samples = None
    return LoaderAtCrash(
        name=name, samples=samples, batch_size=loader.batch_size, drop_last=bool(loader.drop_last), built=built
    )


def _model(name: str, module: torch.nn.Module) -> ModelAtCrash:
    devices: dict[str, int] = {}
    dtypes: dict[str, int] = {}
    parameters = list(module.named_parameters())
    for _, p in parameters:
        devices[str(p.device)] = devices.get(str(p.device), 0) + 1
        kind = str(p.dtype).removeprefix("torch.")
        dtypes[kind] = dtypes.get(kind, 0) + 1
    usual = max(devices, key=lambda d: devices[d], default="cpu")
    return ModelAtCrash(
        name=name,
        type=type_name(module),
        parameters=len(parameters),
        trainable=sum(p.requires_grad for _, p in parameters),
        devices=devices,
        dtypes=dtypes,
        off_device=tuple(f"{n} ({t.device})" for n, t in _tensors(module) if str(t.device) != usual)[:_MOST_NON_FINITE],
        non_finite=tuple(n for n, p in parameters if _is_non_finite(p))[:_MOST_NON_FINITE],
        training=module.training,
        hidden=tuple(_hidden(module))[:_MOST_NON_FINITE],
    )


def _hidden(module: torch.nn.Module) -> Iterator[HiddenLayers]:
    """Layers that a module, or a part of it, keeps in a list, a tuple or a dictionary."""
    for part in module.modules():
        for name, held in vars(part).items():
            items = list(held.values()) if type(held) is dict else held if type(held) in (list, tuple) else []
            layers = [item for item in items if isinstance(item, torch.nn.Module)]
            if layers and not name.startswith("_"):
                where = hung_at(type(part), name)
                kind = type(held).__name__
                yield HiddenLayers(attribute=name, container=kind, count=len(layers), where=where)


def _tensors(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from module.named_parameters()
    yield from module.named_buffers()


def _is_non_finite(p: torch.Tensor) -> bool:
    # Of what is spread over ranks only the own part is at hand: asking for all of it would wait for the others.
    own = getattr(p, "_local_tensor", p)
    if torch.nn.parameter.is_lazy(own):
        return False
    # A device that has failed may not be asked for values any more.
    return own.device.type == "cpu" and own.is_floating_point() and not bool(torch.isfinite(own.detach()).all())
