"""Hears what the script tells its experiment tracker, and knows which one is in use."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from torchmedic.facts.metrics import better_of
from torchmedic.launch.imports import AfterImport, stop_waiting, wait_for_import
from torchmedic.metrics import tell
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.record import Probe, Recorder, shielded

# By the tracker's name, what is needed to write into it when the run is over: the writer, the run, its id.
in_use: dict[str, Any] = {}
_on_first_use: list[Callable[[], None]] = []
_on_closing: list[Callable[[str, Any], None]] = []


def when_used(first: Callable[[], None], closing: Callable[[str, Any], None]) -> None:
    """Call back when the first tracker is put to use, and before one is closed for good by the script."""
    _on_first_use.append(first)
    _on_closing.append(closing)


class Trackers(Probe):
    """Wraps the calls by which TensorBoard, W&B, MLflow, Trackio and SwanLab are given numbers."""

    name = "trackers"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._muted = 0
        in_use.clear()
        watched: dict[str, Callable[[], None]] = {
            "torch.utils.tensorboard.writer": self._watch_tensorboard,
            "tensorboardX.writer": self._watch_tensorboard_x,
            "wandb": self._watch_wandb,
            "mlflow": self._watch_mlflow,
            "trackio": functools.partial(self._watch_function, "trackio", "log"),
            "swanlab": functools.partial(self._watch_function, "swanlab", "log"),
        }
        self._waiting: list[AfterImport | None] = []
        for module, attach in watched.items():
            self._waiting.append(wait_for_import(module, shielded(self)(attach)))

    def remove(self) -> None:
        for finder in self._waiting:
            stop_waiting(finder)
        self._patches.restore()

    @contextlib.contextmanager
    def muted(self) -> Iterator[None]:
        """While a framework passes its own numbers on: they were heard from the framework already."""
        self._muted += 1
        try:
            yield
        finally:
            self._muted -= 1

    def note_use(self, tracker: str, handle: Any) -> None:
        first = not in_use
        in_use[tracker] = handle
        if first:
            for callback in _on_first_use:
                callback()

    # -- one tracker each ------------------------------------------------------------------------------------------

    def _watch_tensorboard(self, module: str = "torch.utils.tensorboard.writer") -> None:
        writer = sys.modules[module].SummaryWriter

        def scalar(this: Any, tag: str, scalar_value: Any, *args: Any, **kwargs: Any) -> None:
            self._hear("tensorboard", this, {tag: scalar_value})

        def scalars(this: Any, main_tag: str, tag_scalar_dict: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            self._hear("tensorboard", this, {f"{main_tag}/{name}": value for name, value in tag_scalar_dict.items()})

        self._listen(writer, "add_scalar", scalar)
        self._listen(writer, "add_scalars", scalars)

    def _watch_tensorboard_x(self) -> None:
        self._watch_tensorboard("tensorboardX.writer")

    def _watch_wandb(self) -> None:
        def log(this: Any, data: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            self._hear("wandb", this, data)

        run = sys.modules["wandb"].sdk.wandb_run.Run
        self._listen(run, "log", log)
        self._close_after_us(run, "finish", "wandb")

    def _watch_mlflow(self) -> None:
        mlflow = sys.modules["mlflow"]

        def one(key: str, value: Any, *args: Any, **kwargs: Any) -> None:
            many({key: value}, *args, **kwargs)

        def many(metrics: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            active = mlflow.active_run()
            if active is not None:
                self._hear("mlflow", active.info.run_id, metrics)

        self._listen(mlflow, "log_metric", one)
        self._listen(mlflow, "log_metrics", many)

    def _watch_function(self, module: str, function: str) -> None:
        def log(data: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            self._hear(module, sys.modules[module], data)

        self._listen(sys.modules[module], function, log)
        self._close_after_us(sys.modules[module], "finish", module)

    def _close_after_us(self, owner: Any, name: str, tracker: str) -> None:
        """A run that is finished takes nothing more, so what is known so far goes into it before."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def finish(*args: Any, **kwargs: Any) -> Any:
            handle = in_use.pop(tracker, None)
            if handle is not None and self.recorder.is_ours:
                for callback in _on_closing:
                    callback(tracker, handle)
            with frame_hidden:
                return original(*args, **kwargs)

        self._patches.replace(owner, name, finish)

    def _listen(self, owner: Any, name: str, hear: Callable[..., None]) -> None:
        """The tracker is called first, with whatever it was given; what we hear must not disturb it."""
        original = getattr(owner, name)
        safe = shielded(self)(hear)

        @functools.wraps(original)
        def logged(*args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(*args, **kwargs)
            safe(*args, **kwargs)
            return result

        self._patches.replace(owner, name, logged)

    def _hear(self, tracker: str, handle: Any, numbers: dict[str, Any]) -> None:
        if not self.recorder.is_ours:
            return
        self.note_use(tracker, handle)
        if self._muted:
            return
        for name, value in _flat(numbers):
            if better_of(name):
                tell(name, value, tracker)


def _flat(numbers: dict[str, Any], head: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values; a dictionary inside a dictionary gives names with a slash."""
    for name, value in numbers.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{head}{name}/")
        else:
            yield f"{head}{name}", value
