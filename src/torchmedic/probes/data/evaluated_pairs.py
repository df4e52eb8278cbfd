"""The numbers that an evaluation compares: in which range its answers lie, and in which its targets."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.weak import WeakIdKeyDictionary

from torchmedic.facts import EvaluatedPair, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.events.modes import LISTENS, is_compiled, may_put_on, take_off
from torchmedic.probes.graph.trace import Place
from torchmedic.probes.objects.rows import names_of_loader
from torchmedic.probes.source.frames import is_user_file, user_frame
from torchmedic.probes.source.grad_blocks import GradBlocks, Site
from torchmedic.probes.source.positions import operand_names
from torchmedic.probes.source.tracebacks import hide_mode
from torchmedic.record import Probe, Recorder, shielded

_DISTANCES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))
_DIFFERENCES = frozenset(("sub", "__sub__", "rsub", "__rsub__"))
_MOST_LOOKS = 6
_MOST_SITES = 10
_MOST_LINES = 8
_MOST_CALLS = 6
_LEAST_VALUES = 8
_MOST_VALUES = 2_000
_TENTHS = 10


@late_dataclass()
class _Line:
    place: Place
    function: str
    loader: tuple[str, ...]
    built: Location | None
    first: list[torch.Tensor] = field(default_factory=list)
    second: list[torch.Tensor] = field(default_factory=list)
    learned: tuple[bool, bool] = (True, True)


class EvaluatedPairs(Probe):
    """Listens for a while, after the first steps, whenever a batch comes or a block begins without gradients."""

    name = "evaluated-pairs"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._lines: dict[tuple[Any, int], _Line] = {}
        self._looks: dict[object, int] = {}
        self._mode: _Differences | None = None
        self._learned = _Learned()
        self._loader: tuple[tuple[str, ...], Location | None] = ((), None)
        self._shielded_begin = shielded(self)(self._begin)
        GradBlocks.add(self)

    def remove(self) -> None:
        self._stop()
        GradBlocks.remove(self)

    def block_begins(self, site: Site) -> None:
        self._shielded_begin(site)

    def block_ends(self) -> None:
        self._stop()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        self._stop()
        if torch.is_grad_enabled() or not self._is_due(id(iterator._index_sampler)):
            return
        self._loader = (names_of_loader(iterator._index_sampler, sys._getframe(1)), self._loaders.built_for(iterator))
        self._begin(id(iterator._index_sampler))

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        self._stop()
        self._loader = ((), None)
        self.recorder.rest(self)

    def on_crash(self, error: BaseException) -> None:
        self._stop()

    def _is_due(self, site: object) -> bool:
        """A block of every step, as that of a moving average, must not use up the looks at others."""
        looks = self._looks.get(site, 0) if len(self._looks) < _MOST_SITES or site in self._looks else _MOST_LOOKS
        return (
            self.recorder.step > 0 and looks < _MOST_LOOKS and self.recorder.is_ours and not self.recorder.clock_is_held
        )

    def _begin(self, site: object) -> None:
        if self._mode is None and self._is_due(site) and may_put_on() and not is_compiled():
            self._looks[site] = self._looks.get(site, 0) + 1
            self._mode = _Differences(shielded(self)(self._look), shielded(self)(self._learned.note))
            torch._C._push_on_torch_function_stack(self._mode)
            self.recorder.wake(self)

    def _stop(self) -> None:
        if self._mode is not None:
            take_off(self._mode)
            self._mode = None

    def _look(self, function: str, first: torch.Tensor, second: torch.Tensor) -> None:
        frame = user_frame(sys._getframe(1))
        if torch.is_grad_enabled() or frame is None or self.recorder.clock_is_held:
            return
        key = (frame.f_code, frame.f_lineno or 0)
        line = self._lines.get(key)
        if line is None and len(self._lines) < _MOST_LINES:
            place = Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti)
            line = self._lines[key] = _Line(place, function, *self._loader)
        if line is not None and len(line.first) < _MOST_CALLS:
            line.first.append(_some(first))
            line.second.append(_some(second))
            line.learned = (
                line.learned[0] and self._learned.holds(first),
                line.learned[1] and self._learned.holds(second),
            )

    def on_finish(self) -> None:
        self._stop()
        for line in self._lines.values():
            first, second = torch.cat(line.first), torch.cat(line.second)
            if not bool(torch.isfinite(first).all() & torch.isfinite(second).all()):
                continue
            names = operand_names(line.place.expression())
            self.recorder.observe(
                EvaluatedPair(
                    step=self.recorder.step,
                    where=line.place.location(),
                    function=line.function,
                    names=(names[0], names[1]) if len(names) >= 2 else ("input", "target"),
                    first=_tenths(first),
                    second=_tenths(second),
                    values=len(first),
                    calls=len(line.first),
                    loader=line.loader,
                    built=line.built,
                    learned=line.learned,
                )
            )


class _Learned:
    """Tensors that were computed with a parameter: what a model answers, and not what it is asked."""

    def __init__(self) -> None:
        self._known = WeakIdKeyDictionary()

    def holds(self, tensor: torch.Tensor) -> bool:
        return isinstance(tensor, torch.nn.Parameter) or tensor in self._known

    def note(self, given: Any, result: Any) -> None:
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        if made and any(isinstance(leaf, torch.Tensor) and self.holds(leaf) for leaf in tree_leaves(given)):
            self._known.update((leaf, True) for leaf in made)


class _Differences(TorchFunctionMode):
    """Hands on the two sides of differences that have as many numbers on both, and what everything was made of."""

    def __init__(self, take: Any, note: Any) -> None:
        super().__init__()
        setattr(self, LISTENS, True)
        self._take = take
        self._note = note

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in _DISTANCES or (name in _DIFFERENCES and is_user_file(sys._getframe(1).f_code.co_filename)):
            first = args[0] if args else kwargs.get("input")
            second = args[1] if len(args) > 1 else kwargs.get("target", kwargs.get("other"))
            if _is_many(first) and _is_many(second) and first.numel() == second.numel():
                self._take(name if name in _DISTANCES else "-", first, second)
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            hide_mode(error)
            raise
        if result is not None:
            self._note((args, kwargs), result)
        return result


def _is_many(value: Any) -> bool:
    is_plain = isinstance(value, torch.Tensor) and value.is_floating_point() and value.layout == torch.strided
    return is_plain and value.numel() >= _LEAST_VALUES


def _some(values: torch.Tensor) -> torch.Tensor:
    flat = values.detach().flatten()
    return flat[:: -(-len(flat) // _MOST_VALUES)].to("cpu", torch.float64, copy=True)


def _tenths(values: torch.Tensor) -> tuple[float, ...]:
    ordered = values.sort().values
    return tuple(float(ordered[i * (len(ordered) - 1) // _TENTHS]) for i in range(_TENTHS + 1))
