"""Loaders side by side: does evaluation see the inputs and the labels that training sees."""

from __future__ import annotations

import ast
import sys
import weakref
from collections.abc import Callable
from dataclasses import field
from types import FrameType
from typing import Any

import torch

from torchmedic.facts import (
    ConstantTargets,
    InputsApart,
    LabelMapsApart,
    Location,
    SharedSetting,
    TargetAmongInputs,
    WholeTargets,
)
from torchmedic.late import late_dataclass
from torchmedic.probes.data.dataset_lines import Numbering, differing_map, none_in_one, returned_at, settings_below
from torchmedic.probes.data.map_lines import map_lines
from torchmedic.probes.data.preparing_steps import Steps, steps_apart
from torchmedic.probes.data.target_casts import target_cast
from torchmedic.probes.events.loaders import Loaders, base_of
from torchmedic.probes.objects.rows import (
    is_held_out,
    names_in_libraries,
    names_of_dataset,
    names_of_loader,
    say_nothing,
)
from torchmedic.probes.objects.spreads import some_values
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.frames import location
from torchmedic.record import Probe, Recorder

_MOST_LOADERS = 12
_MOST_LABELS = 4
_MOST_BATCHES = 8
_MOST_TARGETS = 200
_MOST_COLUMNS = 20_000
_LEAST_VALUES = 200
_LEAST_COLUMNS = 8
_MOST_ROWS = 64
_MOST_VALUES = 2_000
_LEAST_SAMPLES = 64
_WHOLE = ("int64", "int32", "int16")


@late_dataclass(frozen=True)
class _Spread:
    """The middle of a batch's values, their spread from a tenth to nine tenths, and that of its typical sample."""

    middle: float
    whole: float
    within: float
    values: int


@late_dataclass()
class _Seen:
    """One loader. `columns` are the positions of the input that have equalled the target so far."""

    names: tuple[str, ...]
    built: Location | None
    dataset: Callable[[], Any]
    kind: str
    spreads: list[_Spread] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    trained: bool = False
    batches: int = 0
    samples: int = 0
    columns: set[int] | None = None
    targets: set[float] | None = None
    made: Location | None = None
    iterator: Callable[[], Any] = lambda: None
    passed: int = 0
    constant: float | None = None
    target: tuple[str, tuple[int, ...]] = ("", ())
    target_made: Location | None = None
    target_cast: Callable[[], Location | None] = lambda: None


@late_dataclass()
class _Pair:
    """What two data sets have in common and what not, noted while both are alive."""

    numbers: Numbering | None
    lacking: dict[int, tuple[str, str]]
    below: dict[str, str] | None
    kind: str
    steps: dict[int, Steps]


class PairedLoaders(Probe):
    """Looks at the first batches of each loader, and at two data sets while both are alive."""

    name = "paired-loaders"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: dict[int, _Seen] = {}
        self._current: _Seen | None = None
        self._pairs: list[tuple[_Seen, _Seen, _Pair]] = []

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self.recorder.clock_is_held:
            return
        key = id(iterator._index_sampler)
        loader = self._seen.get(key)
        if loader is None:
            if len(self._seen) >= _MOST_LOADERS:
                self._current = None
                return
            loader = self._seen[key] = self._meet(batch, iterator)
        self._current = loader
        if not loader.trained:
            self.recorder.wake(self)
        if loader.batches < _MOST_BATCHES:
            loader.batches += 1
            _look_for_target(loader, batch)
            inputs = _inputs(batch)
            spread = _spread(inputs) if inputs is not None else None
            loader.spreads += [spread] if spread is not None else []
        if loader.iterator() is iterator and loader.passed < _MOST_TARGETS:
            _look_for_constant(loader, batch)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self._current is not None:
            self._current.trained = True
        self.recorder.rest(self)

    def _meet(self, batch: Any, iterator: Any) -> _Seen:
        dataset = iterator._dataset
        inputs = _inputs(batch)
        built = self._loaders.built_for(iterator)
        loader = _Seen(
            names=_names(iterator, sys._getframe(2), built),
            built=built,
            dataset=_weakly(dataset),
            kind=type_name(dataset),
            shape=tuple(inputs.shape) if inputs is not None else (),
            made=returned_at(dataset, 0),
            iterator=weakref.ref(iterator),
            target_made=returned_at(dataset, -1),
            target_cast=target_cast(dataset),
        )
        for other in self._seen.values():
            self._pairs.append((loader, other, _compared(loader, other, dataset, other.dataset())))
        return loader

    # -- the end ---------------------------------------------------------------------------------------------------

    def on_finish(self) -> None:
        for loader in self._seen.values():
            self._tell_target(loader)
            self._tell_constant(loader)
            self._tell_whole(loader)
        for first, second, pair in self._pairs:
            loader, trained = (first, second) if second.trained else (second, first)
            if trained.trained and not loader.trained and is_held_out(loader.names):
                self._tell_inputs(loader, trained, pair)
                self._tell_setting(loader, trained, pair)
            if trained.trained and not loader.trained and pair.numbers is not None:
                self._tell_labels(loader, trained, pair.numbers, first is loader)

    def _tell_labels(self, loader: _Seen, trained: _Seen, seen: Numbering, in_order: bool) -> None:
        lines = map_lines(seen.kind, seen.attribute, loader.built)
        other, train = (0, 1) if in_order else (1, 0)
        self.recorder.observe(
            LabelMapsApart(
                step=self.recorder.step,
                attribute=seen.attribute,
                dataset=seen.kind.__name__,
                where=lines.edit,
                made=lines.made,
                parameter=lines.parameter,
                names=loader.names,
                train_names=trained.names,
                label=seen.label,
                train=seen.numbers[train],
                other=seen.numbers[other],
                differing=seen.differing,
                common=seen.common,
                lacking=seen.alone[train][:_MOST_LABELS],
            )
        )

    def _tell_target(self, loader: _Seen) -> None:
        if not loader.columns or loader.samples < _LEAST_SAMPLES or len(loader.targets or ()) < 2:
            return
        position = max(loader.columns)
        if position == 0:
            return  # to remember the first of a sequence is a task that people set
        self.recorder.observe(
            TargetAmongInputs(
                step=self.recorder.step,
                names=loader.names,
                built=loader.built,
                dataset=loader.kind,
                made=loader.made,
                shape=loader.shape[1:],
                position=_unravelled(position, loader.shape[1:]),
                samples=loader.samples,
                values=len(loader.targets or ()),
            )
        )

    def _tell_constant(self, loader: _Seen) -> None:
        if loader.constant is not None and loader.passed and loader.target[0]:
            self.recorder.observe(
                ConstantTargets(
                    step=self.recorder.step,
                    names=loader.names,
                    built=loader.built,
                    dataset=loader.kind,
                    made=loader.target_made,
                    value=loader.constant,
                    dtype=loader.target[0],
                    shape=loader.target[1],
                    samples=loader.passed * (loader.target[1][0] if loader.target[1] else 1),
                    trained=loader.trained,
                )
            )

    def _tell_whole(self, loader: _Seen) -> None:
        dtype = loader.target[0]
        cast = loader.target_cast() if loader.trained and dtype in _WHOLE else None
        if cast is not None:
            self.recorder.observe(WholeTargets(step=self.recorder.step, built=loader.built, dtype=dtype, cast=cast))

    def _tell_inputs(self, loader: _Seen, trained: _Seen, pair: _Pair) -> None:
        if not loader.spreads or not trained.spreads or len(loader.shape) != len(trained.shape):
            return
        mine, its = _typical(loader.spreads), _typical(trained.spreads)
        differing = pair.lacking[id(loader)]
        self.recorder.observe(
            InputsApart(
                step=self.recorder.step,
                names=loader.names,
                train_names=trained.names,
                built=loader.built,
                train_built=trained.built,
                spreads=(its.whole, mine.whole),
                within=(its.within, mine.within),
                middles=(its.middle, mine.middle),
                values=min(its.values, mine.values),
                differing=differing[0],
                differing_to=differing[1],
                **_told(pair.steps.get(id(trained)), pair.steps.get(id(loader))),
            )
        )

    def _tell_setting(self, loader: _Seen, trained: _Seen, pair: _Pair) -> None:
        lines = [one for one in settings_below() if one[2] in pair.below] if pair.below else []
        if not lines or pair.below is None or len({line[2] for line in lines}) != 1:
            return
        file, node, attribute = lines[-1]
        # One line for the part that is trained on may well be meant for both.
        if len(lines) == 1 and not is_held_out((ast.unparse(node.targets[0]),)):
            return
        self.recorder.observe(
            SharedSetting(
                step=self.recorder.step,
                attribute=attribute,
                text=ast.unparse(node),
                where=location(file, node.lineno),
                dataset=pair.kind,
                value=pair.below[attribute],
                names=loader.names,
                train_names=trained.names,
            )
        )


def _names(iterator: Any, frame: FrameType, built: Location | None) -> tuple[str, ...]:
    """What the user calls a loader; else what tells its use: a framework's name, its data set's, its maker's."""
    sampler = iterator._index_sampler
    maker = built.function.rpartition(".")[2] if built is not None else ""
    others = (names_in_libraries(sampler, frame), names_of_dataset(iterator._dataset, frame), (maker,))
    return names_of_loader(sampler, frame) or next((names for names in others if not say_nothing(names)), ())


def _told(train: Steps | None, other: Steps | None) -> dict[str, Any]:
    if train is None or other is None:
        return {}
    return {
        "prepared_by": other.attribute,
        "steps": (train.names, other.names),
        "composed": (train.composed, other.composed),
    }


def _weakly(thing: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: None


def _inputs(batch: Any) -> torch.Tensor | None:
    """The first field of a batch of several, where it is made of fractions."""
    fields = list(batch.values()) if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else ()
    first = fields[0] if len(fields) > 1 else None
    fits = isinstance(first, torch.Tensor) and first.is_floating_point() and first.layout == torch.strided
    return first if fits and first is not None and first.ndim > 1 else None


def _spread(inputs: torch.Tensor) -> _Spread | None:
    flat = inputs.detach()[:_MOST_ROWS].flatten(1)
    flat = flat[:, :: -(-flat.shape[1] // _MOST_VALUES)].to("cpu", torch.float64)
    if flat.numel() < _LEAST_VALUES or flat.shape[1] < _LEAST_COLUMNS or not bool(torch.isfinite(flat).all()):
        return None
    rows, values = flat.sort(1).values, flat.flatten().sort().values
    low, high = (int(share * (rows.shape[1] - 1)) for share in (0.1, 0.9))
    whole = [float(values[int(share * (len(values) - 1))]) for share in (0.1, 0.5, 0.9)]
    return _Spread(whole[1], whole[2] - whole[0], float((rows[:, high] - rows[:, low]).median()), len(values))


def _typical(spreads: list[_Spread]) -> _Spread:
    """The middle one of the batches looked at."""
    return sorted(spreads, key=lambda spread: spread.whole)[len(spreads) // 2]


def _look_for_target(loader: _Seen, batch: Any) -> None:
    inputs = _inputs(batch)
    target = batch[-1] if isinstance(batch, (list, tuple)) else None
    if inputs is None or not isinstance(target, torch.Tensor) or loader.columns == set():
        return
    flat, wanted = inputs.detach().flatten(1).cpu(), target.detach().flatten().cpu()
    if len(wanted) != len(flat) or not 1 < flat.shape[1] <= _MOST_COLUMNS or target.is_complex():
        loader.columns = set()
        return
    same = (flat == wanted.to(flat.dtype).unsqueeze(1)).all(0).nonzero().flatten().tolist()
    loader.columns = set(same) if loader.columns is None else loader.columns & set(same)
    loader.samples += len(wanted)
    loader.targets = (loader.targets or set()) | set(wanted.tolist()[:200])


def _look_for_constant(loader: _Seen, batch: Any) -> None:
    target = batch[-1] if isinstance(batch, (list, tuple)) and len(batch) > 1 else None
    values = some_values(target) if isinstance(target, torch.Tensor) else None
    loader.passed += 1
    if isinstance(target, torch.Tensor) and not loader.target[0]:
        loader.target = (str(target.dtype).removeprefix("torch."), tuple(target.shape))
    if values is None or not isinstance(target, torch.Tensor) or (loader.passed > 1 and loader.constant is None):
        loader.constant = None
        return
    first = float(values[0]) if loader.constant is None else loader.constant
    loader.constant = first if bool((values == first).all()) else None


def _unravelled(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    found: list[int] = []
    for size in reversed(shape):
        found.append(position % size)
        position //= size
    return tuple(reversed(found))


def _compared(loader: _Seen, other: _Seen, first: Any, second: Any) -> _Pair:
    below = base_of(first) if base_of(first) is base_of(second) and first is not second else None
    apart = steps_apart(first, loader.built, second, other.built)
    attributes = list(getattr(below, "__dict__", {}).items())
    return _Pair(
        numbers=differing_map(first, second),
        lacking={id(loader): none_in_one(first, second), id(other): none_in_one(second, first)},
        below={name: type_name(value) for name, value in attributes} or None,
        kind=type_name(below),
        steps={id(loader): apart[0], id(other): apart[1]} if apart is not None else {},
    )
