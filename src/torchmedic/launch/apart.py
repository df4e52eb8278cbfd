"""Processes that a script starts to train by themselves, without a process group: each is watched once it trains."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.ranks.folders import free_number, new_rank, run_file_of
from torchmedic.record import Recorder, say

_SPAWN = "torch.multiprocessing.spawn"


class Awakening:
    """Calls `wake` once, with this process's number, when it builds a module or an optimizer.

    One that is handed weights which others train at the same time is left asleep: between two of its steps they
    change, and what is looked for in a step would not hold.
    """

    def __init__(self, wake: Callable[[int], object]) -> None:
        import torch

        self._wake = wake
        self._patches = Patches()
        for kind in (torch.nn.Module, torch.optim.Optimizer):
            self._wrap(kind)

    def _wrap(self, kind: type) -> None:
        original = kind.__init__  # type: ignore[misc]

        @functools.wraps(original)
        def init(built: Any, *args: Any, **kwargs: Any) -> None:
            number = number_of(multiprocessing.current_process())
            if number is not None:
                self.over()
                self._wake_unless_shared(number, args)
            with frame_hidden:
                kind.__init__(built, *args, **kwargs)  # type: ignore[misc]

        self._patches.replace(kind, "__init__", init)

    def over(self) -> None:
        """Wait no longer."""
        self._patches.restore()

    def _wake_unless_shared(self, number: int, given: tuple[Any, ...]) -> None:
        process: Any = multiprocessing.current_process()
        if _is_shared((*given, *getattr(process, "_args", ()), *getattr(process, "_kwargs", {}).values())):
            say(f"process {number} trains weights that are shared with others (Hogwild); it is not watched")
            return
        try:
            self._wake(number)
        except Exception as error:  # noqa: BLE001 - our faults never take the script down
            say(f"process {number} runs unwatched ({type(error).__name__}: {error})")


def number_of(process: Any) -> int | None:
    """The place of a process among those its parent started, from 0; None in the parent itself."""
    identity: tuple[int, ...] = getattr(process, "_identity", ())
    arguments: tuple[Any, ...] = getattr(process, "_args", ())
    if len(arguments) > 1 and getattr(getattr(process, "_target", None), "__module__", "") == _SPAWN:
        return int(arguments[1])
    return int(identity[-1]) - 1 if identity else None


def move_here(recorder: Recorder, number: int) -> None:
    """Go on in a run file of this forked process's own."""
    from torchmedic.watching import watch_threads

    if not recorder.is_ours:
        shared = Path(recorder.settings.common)
        number = free_number(shared, number)
        recorder.move_to(new_rank(shared, number), run_file_of(number), number)
        watch_threads(recorder)


def _is_shared(given: tuple[Any, ...]) -> bool:
    """Whether parameters lie in memory that other processes have too; `args` of `mp.spawn` are one level deeper."""
    import torch

    flat = [item for one in given for item in (one if isinstance(one, (tuple, list)) else (one,))]
    modules = [item for item in flat if isinstance(item, torch.nn.Module)]
    parameters = [item for item in flat if isinstance(item, torch.nn.Parameter)]
    parameters += [p for module in modules for p in module.parameters()]
    return any(p.device.type == "cpu" and p.untyped_storage().is_shared() for p in parameters)
