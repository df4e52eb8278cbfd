"""Watches what resizes, turns and warps images: class numbers must not be blended like colours."""

from __future__ import annotations

import functools
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from torchmedic.facts import BlendedLabels, from_plain, to_plain
from torchmedic.late import late_dataclass
from torchmedic.launch.imports import AfterImport, stop_waiting, wait_for_import
from torchmedic.probes.data.blended_values import Array, Blend, blended, invented, is_map, maps_in
from torchmedic.probes.data.held_arrays import held_arrays
from torchmedic.probes.events.loaders import Loaders, base_of
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import location_of, user_frame
from torchmedic.probes.source.positions import expression_at
from torchmedic.probes.source.tracebacks import hide_mode
from torchmedic.record import Probe, Recorder, shielded

_RESIZERS = {
    "PIL.Image": ("Image.resize", "Image.rotate", "Image.transform"),
    "cv2": ("resize", "warpAffine", "warpPerspective", "remap"),
    "scipy.ndimage": ("zoom", "rotate", "affine_transform", "map_coordinates"),
    "skimage.transform": ("resize", "rescale", "rotate", "warp"),
}
_TORCH = ("interpolate", "grid_sample")
_POSITIONS = {"resize": 2, "rotate": 2, "transform": 4}
_CHOICES = ("resample", "interpolation", "order", "mode", "flags")
_MOST_LOOKS = 2000
_MOST_AT_A_PLACE = 500  # one line may resize all images before it comes to the masks
_MOST_BLENDS_AT_A_PLACE = 6
_MOST_DATASETS = 3
_SAMPLES = 4
_MOST_ROWS = 64
_MOST_NUMBERS = 12


@late_dataclass()
class Notes:
    """What calls were seen to blend; at each place a few are looked at."""

    blends: list[Blend]
    looks: dict[tuple[Any, int], int]
    left: int = _MOST_LOOKS

    def look(self, library: str, function: str, args: Any, kwargs: Any, result: Any, frame: FrameType | None) -> None:
        place = (frame.f_code, frame.f_lineno or 0) if frame is not None else None
        if place is None or frame is None or self.looks.get(place, 0) >= _MOST_AT_A_PLACE:
            return
        self.left -= 1
        self.looks[place] = self.looks.get(place, 0) + 1
        found = blended(args[0] if args else next(iter(kwargs.values()), None), result)
        if found is not None:
            if sum(blend.where == location_of(frame) for blend in self.blends) + 1 >= _MOST_BLENDS_AT_A_PLACE:
                self.looks[place] = _MOST_AT_A_PLACE
            chosen = next((kwargs[key] for key in _CHOICES if kwargs.get(key) is not None), None)
            at = _POSITIONS.get(function, len(args)) if library == "PIL" else len(args)
            chosen = args[at] if chosen is None and at < len(args) else chosen
            self.blends.append(
                Blend(
                    where=location_of(frame),
                    text=expression_at(frame.f_code, frame.f_lasti),
                    library=library,
                    function=function,
                    filter=_named(library, chosen),
                    is_default=chosen is None,
                    before=found[0],
                    after=found[1],
                    size=sum(found[1][0].values()),
                )
            )


class ResizedLabels(Probe):
    """Notes calls that blend whole numbers, and whether what they give is a sample's map of labels."""

    name = "resized-labels"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._notes = Notes([], {})
        self._looked: set[int] = set()
        self._is_told = False
        self._depth = 0  # `rotate` calls `transform`
        self._waiting: list[AfterImport | None] = []
        for module, names in _RESIZERS.items():
            self._waiting.append(wait_for_import(module, functools.partial(self._wrap_all, module, names)))

    def remove(self) -> None:
        self._patches.restore()
        for finder in self._waiting:
            stop_waiting(finder)

    def _wrap_all(self, module: str, names: tuple[str, ...]) -> None:
        for name in names:
            kind, _, leaf = name.rpartition(".")
            owner = getattr(sys.modules[module], kind, None) if kind else sys.modules[module]
            if hasattr(owner, leaf):
                self._wrap(owner, leaf, module.partition(".")[0])

    def _wrap(self, owner: Any, name: str, library: str) -> None:
        original = getattr(owner, name)
        look = shielded(self)(self._look)

        @functools.wraps(original)
        def resized(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            try:
                with frame_hidden:
                    result = original(*args, **kwargs)
            finally:
                self._depth -= 1
            if self._notes.left > 0 and self._depth == 0:
                look(library, name, args, kwargs, result, user_frame(sys._getframe(1)))
            return result

        self._patches.replace(owner, name, resized)

    def _look(self, *seen: Any) -> None:
        self._notes.look(*seen)

    # -- where the maps go -----------------------------------------------------------------------------------------

    def on_batch(self, batch: Any, iterator: Any) -> None:
        dataset = base_of(iterator._dataset)
        if self._is_told or id(dataset) in self._looked or len(self._looked) >= _MOST_DATASETS:
            return
        self._looked.add(id(dataset))
        fields = list(_labelled(batch))
        if fields and not self.recorder.clock_is_held and not self._match(fields):
            self._fetch_again(dataset, self._loaders.batch_facts(iterator)[0])

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recorder.rest(self)
        if self._notes.blends and not self._is_told:
            held = [(one.name, one.rows(_MOST_ROWS * 2**20)) for one in held_arrays([], sys._getframe(1))]
            self._match(
                [(name, rows[:_MOST_ROWS]) for name, rows in held if rows.dtype != np.uint8 and _is_labels(rows, held)]
            )
        # The calls that prepare data have been made by now, or are seen in a fork.
        self._notes.left = 0

    def on_crash(self, error: BaseException) -> None:
        if self._notes.blends and not self._is_told:
            self._match(list(_targets(error)))

    def _match(self, fields: list[tuple[str, Array]]) -> bool:
        found = found_in(self._notes.blends, fields, self.recorder.step)
        if found is not None and not self._is_told:
            self._is_told = True
            self.recorder.observe(found)
        return self._is_told

    def _fetch_again(self, dataset: Any, indices: Any) -> None:
        """What a worker did, or torch's own functions, is seen in a fork that fetches a few samples again."""
        from torchmedic.probes.crash.refetch import told_by_fork

        is_able = hasattr(os, "fork") and threading.current_thread() is threading.main_thread()
        if not is_able or not isinstance(indices, (list, tuple)):
            return
        step = self.recorder.step
        told = told_by_fork(lambda tell: self._fetch(tell, dataset, list(indices[:_SAMPLES]), step))
        if told.get("found") is not None:
            self._is_told = True
            self.recorder.observe(from_plain(BlendedLabels, told["found"]))

    def _fetch(self, tell: Any, dataset: Any, indices: list[Any], step: int) -> None:
        self._notes, self._depth = Notes([], {}), 0
        for index in indices:
            with _TorchCalls(self._notes):
                sample = dataset[index]
            fields = [(name, values[None]) for name, values in maps_in(sample, "sample")]
            found = found_in(self._notes.blends, [one for one in fields if _is_labels(one[1], fields)], step)
            if found is not None:
                tell(found=to_plain(found))
                return


class _TorchCalls(TorchFunctionMode):
    """Notes what torch's own functions blend."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self._notes = notes

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except BaseException as error:
            hide_mode(error)
            raise
        name = getattr(func, "__name__", "")
        if name in _TORCH:
            self._notes.look("torch", name, args, kwargs or {}, result, user_frame(sys._getframe(1)))
        return result


def found_in(blends: list[Blend], fields: list[tuple[str, Array]], step: int) -> BlendedLabels | None:
    """The first call whose numbers stand in a map of labels."""
    for name, rows in fields:
        for row in rows:
            for blend in blends:
                new = invented(blend, row)
                if new:
                    return BlendedLabels(
                        step=step,
                        where=blend.where,
                        text=blend.text,
                        library=blend.library,
                        function=blend.function,
                        filter=blend.filter,
                        is_default=blend.is_default,
                        before=tuple(sorted(blend.before))[:_MOST_NUMBERS],
                        invented=new[:_MOST_NUMBERS],
                        share=float(np.isin(row, new).mean()),
                        name=name,
                    )
    return None


def _labelled(batch: Any) -> Iterator[tuple[str, Array]]:
    """The maps of labels of a batch that has images of their size beside them."""
    fields = list(maps_in(batch, "batch"))
    yield from ((name, rows[:_MOST_ROWS]) for name, rows in fields if _is_labels(rows, fields))


def _is_labels(rows: Array, fields: list[tuple[str, Array]]) -> bool:
    """Whole numbers in planes, and something else with as many planes of that size: the images."""
    if rows.ndim < 3 or not is_map(rows[0]) or (rows.dtype == np.uint8 and rows is fields[0][1]):
        return False  # bytes that come first are the images
    size = (len(rows), *rows.shape[-2:])
    return any(other is not rows and other.ndim > 2 and (len(other), *other.shape[-2:]) == size for _, other in fields)


def _targets(error: BaseException) -> Iterator[tuple[str, Array]]:
    """The maps of labels that a loss was given when it failed."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        target = frame.f_locals.get("target") if frame.f_code.co_name in ("cross_entropy", "nll_loss") else None
        if isinstance(target, torch.Tensor) and target.ndim > 2 and target.device.type == "cpu":
            rows = target.detach().numpy()[:_MOST_ROWS]
            if is_map(rows[0]):
                yield "target", rows


def _named(library: str, chosen: Any) -> str:
    """How a way of interpolating is called; what is used where none was chosen."""
    if chosen is None:
        return {"PIL": "BICUBIC", "cv2": "INTER_LINEAR", "scipy": "order=3", "skimage": "order=1"}.get(library, "")
    if library == "PIL":
        ways = getattr(sys.modules["PIL.Image"], "Resampling", None)
        return str(ways(chosen).name) if ways is not None and isinstance(chosen, int) else str(chosen)
    return f"order={chosen}" if library in ("scipy", "skimage") and isinstance(chosen, int) else str(chosen)
