"""Whether answers are scored in the order in which a loader handed the samples out, or in another one."""

from __future__ import annotations

import functools
import math
import sys
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import field
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils.data import RandomSampler, SubsetRandomSampler

from torchmedic.facts import Location, ScoredInAnotherOrder
from torchmedic.late import late_dataclass
from torchmedic.launch.imports import AfterImport, stop_waiting, wait_for_import
from torchmedic.probes.data.label_fields import labels_of
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.events.modes import LISTENS, is_compiled, may_put_on, take_off
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.graph.trace import Place
from torchmedic.probes.objects.rows import names_of_loader
from torchmedic.probes.source.frames import user_frame
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Probe, Recorder, shielded

# All metrics of scikit-learn hold the lengths of what they are given against each other first.
_METRICS = ("sklearn.metrics._classification", "sklearn.metrics._ranking", "sklearn.metrics._regression")
_LEAST_SAMPLES = 50
_MOST_SAMPLES = 500_000
_MOST_PASSES = 4
_MOST_LOOKS = 60
_MOST_CALLS = 2_000
_SURELY = 5.0  # standard errors


@late_dataclass()
class _Pass:
    """A pass over a loader that was not trained on, and the labels in the order in which they came."""

    sampler: Any
    names: tuple[str, ...]
    built: Location | None
    is_shuffled: bool
    labels: list[torch.Tensor] = field(default_factory=list)
    count: int = 0
    order: Any = None
    is_scored: bool = False


class ScoreOrders(Probe):
    """Keeps the labels of the last passes for evaluation, and holds them against what metrics are given."""

    name = "score-orders"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._now: _Pass | None = None
        self._passes: deque[_Pass] = deque(maxlen=_MOST_PASSES)
        self._trained: weakref.WeakSet[Any] = weakref.WeakSet()
        self._mode: _Matches | None = None
        self._looks = 0
        self._found: list[tuple[_Pass, ScoredInAnotherOrder]] = []
        self._waiting: list[AfterImport | None] = [
            wait_for_import(name, functools.partial(self._watch, name)) for name in _METRICS
        ]

    def remove(self) -> None:
        self._stop()
        self._patches.restore()
        for finder in self._waiting:
            stop_waiting(finder)

    # -- passes ----------------------------------------------------------------------------------------------------

    def on_batch(self, batch: Any, iterator: Any) -> None:
        self._stop()
        sampler = iterator._index_sampler
        if sampler in self._trained or self.recorder.clock_is_held or not self.recorder.is_ours:
            self._now = None
            return
        if getattr(iterator, "_num_yielded", 0) <= 1:
            inner = getattr(sampler, "sampler", None)
            names = names_of_loader(sampler, sys._getframe(1))
            is_shuffled = isinstance(inner, (RandomSampler, SubsetRandomSampler))
            self._now = _Pass(sampler, names, self._loaders.built_for(iterator), is_shuffled)
            self.recorder.wake(self)
        labels = labels_of(batch)[1]
        if self._now is None or self._now.sampler is not sampler or labels is None:
            self._now = None
        elif labels.numel() == len(labels) and self._now.count + len(labels) <= _MOST_SAMPLES:
            self._now.labels.append(labels.detach().flatten().to("cpu", copy=True))
            self._now.count += len(labels)
        else:
            self._now = None

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        self._stop()
        if self._now is not None:
            self._trained.add(self._now.sampler)
            self._now = None
        self.recorder.rest(self)

    def on_end(self, iterator: Any) -> None:
        seen, self._now = self._now, None
        if seen is None or seen.sampler is not iterator._index_sampler or seen.count < _LEAST_SAMPLES:
            return
        seen.order = torch.cat(seen.labels).double().numpy()
        seen.labels.clear()
        seen.sampler = None  # it holds the data set
        self._passes.append(seen)
        if self._looks < _MOST_LOOKS and may_put_on() and not is_compiled():
            self._mode = _Matches(shielded(self)(self._look), self._stop)
            torch._C._push_on_torch_function_stack(self._mode)

    def on_crash(self, error: BaseException) -> None:
        self._stop()

    def on_finish(self) -> None:
        self._stop()
        for seen, fact in self._found:
            # Who scores in the order of the pass as well draws others on purpose, to see what chance gives.
            if not seen.is_scored:
                self.recorder.observe(fact)

    def _stop(self) -> None:
        if self._mode is not None:
            take_off(self._mode)
            self._mode = None

    # -- metrics ---------------------------------------------------------------------------------------------------

    def _watch(self, name: str) -> None:
        module = sys.modules[name]
        original = getattr(module, "check_consistent_length", None)
        if original is None:
            return
        look = shielded(self)(self._look)

        @functools.wraps(original)
        def check_consistent_length(*arrays: Any) -> Any:
            with frame_hidden:
                result = original(*arrays)
            if self._passes and len(arrays) > 1:
                look(arrays[0], arrays[1], user_frame(sys._getframe(1)))
            return result

        self._patches.replace(module, "check_consistent_length", check_consistent_length)

    def _look(self, first: Any, second: Any, frame: FrameType | None) -> None:
        """Which of two columns are the labels is not told by their place alone."""
        if self._looks >= _MOST_LOOKS or frame is None or self.recorder.clock_is_held:
            return
        place = Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti)
        names = operand_names(place.expression())
        names = names[:2] if len(names) > 1 else ("the first column", "the second column")
        for target, answer, told in ((first, second, names), (second, first, names[::-1])):
            scored, given = _column(target), _column(answer, scores=True)
            if scored is not None and given is not None and len(scored) == len(given):
                self._hold_against_passes(scored, given, place, told)

    def _hold_against_passes(self, scored: Any, given: Any, place: Place, names: tuple[str, ...]) -> None:
        same = [each for each in self._passes if np.array_equal(each.order, scored)]
        for each in same:
            each.is_scored = True
        if same or len(np.unique(scored)) < 2:
            return
        for seen in reversed(self._passes):
            if len(seen.order) == len(scored) and np.array_equal(np.sort(seen.order), np.sort(scored)):
                self._looks += 1
                self._compare(seen, scored, given, place, names)
                return

    def _compare(self, seen: _Pass, scored: Any, given: Any, place: Place, names: tuple[str, ...]) -> None:
        """Answers that fit the labels as they were handed out, and far less those they are scored against."""
        handed_out, as_scored = (_agreement(given, labels) for labels in (seen.order, scored))
        if handed_out - as_scored < _SURELY / math.sqrt(len(scored)):
            return
        fact = ScoredInAnotherOrder(
            step=self.recorder.step,
            where=place.location(),
            expression=place.expression(),
            target=names[0],
            answer=names[1],
            loader=seen.names,
            built=seen.built,
            is_shuffled=seen.is_shuffled,
            samples=len(scored),
            handed_out=handed_out,
            as_scored=as_scored,
            is_share=_are_classes(given, scored),
        )
        self._found.append((seen, fact))


class _Matches(TorchFunctionMode):
    """Hands on comparisons of two columns, for as many calls as an evaluation may take to add up its score."""

    def __init__(self, take: Callable[[Any, Any, FrameType | None], None], stop: Callable[[], None]) -> None:
        super().__init__()
        setattr(self, LISTENS, True)
        self._take = take
        self._over = stop
        self._left = _MOST_CALLS

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._left -= 1
        if getattr(func, "__name__", "") in ("eq", "__eq__") and len(args) == 2:
            both = [isinstance(side, torch.Tensor) and side.ndim == 1 for side in args]
            if all(both) and len(args[0]) == len(args[1]) >= _LEAST_SAMPLES:
                self._take(args[0], args[1], user_frame(sys._getframe(1)))
        if not self._left:
            self._over()
        return func(*args, **(kwargs or {}))


def _column(values: Any, *, scores: bool = False) -> Any:
    """One number for each sample; of scores for several classes, the class that has the most."""
    given = values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
    if given.dtype.kind not in "biuf" or not 0 < given.size <= _MOST_SAMPLES * (100 if scores else 1):
        return None
    if given.ndim == 2 and given.shape[1] > 1:
        given = given.argmax(1) if scores else np.empty(0)
    flat = given.reshape(-1).astype(np.float64)
    is_told = len(flat) >= _LEAST_SAMPLES and bool(np.isfinite(flat).all())
    return flat if is_told else None


def _are_classes(given: Any, labels: Any) -> bool:
    return set(np.unique(given).tolist()) <= set(np.unique(labels).tolist())


def _agreement(given: Any, labels: Any) -> float:
    """The share of answers that are right; of scores, how closely they follow the labels."""
    if _are_classes(given, labels):
        return float((given == labels).mean())
    apart = given - given.mean(), labels - labels.mean()
    length = float(np.sqrt((apart[0] ** 2).sum() * (apart[1] ** 2).sum()))
    return float((apart[0] * apart[1]).sum()) / length if length else 0.0
