"""In a process that starts others: has those watched that turn out to be ranks, however they are started."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from multiprocessing import process as mp_process
from pathlib import Path
from typing import Any

from torchmedic.launch.apart import Awakening, move_here
from torchmedic.launch.parent import armed_environment
from torchmedic.probes.events.patching import Patches, frame_hidden, hide_frame
from torchmedic.ranks.folders import free_number, new_rank, run_file_of
from torchmedic.ranks.marks import clear_mark
from torchmedic.ranks.told import rank_in, world_in
from torchmedic.record import Probe, Recorder, say
from torchmedic.settings import Settings

_LOADER_WORKER = "_worker_loop"


class Starters(Probe):
    """Wraps `subprocess.Popen` (torchrun, Accelerate, Lightning) and `multiprocessing.Process` (`mp.spawn`).

    A process that is told its rank by its environment is armed at once. One that is spawned is armed asleep: it wakes
    when it joins a process group. A forked one has all it needs already. A server that forks them for the script is
    told to have them note what they die of, and no more.
    """

    name = "starters"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._settings = recorder.settings
        self._wrap_popen()
        self._wrap_process()

    def remove(self) -> None:
        self._patches.restore()

    def _wrap_popen(self) -> None:
        original = subprocess.Popen.__init__

        @functools.wraps(original)
        def init(popen: Any, *args: Any, **kwargs: Any) -> None:
            environment = kwargs.get("env")
            if isinstance(environment, Mapping) and self.recorder.is_ours:
                kwargs["env"] = self._armed(environment)
            with frame_hidden:
                original(popen, *args, **kwargs)

        self._patches.replace(subprocess.Popen, "__init__", init)

    def _armed(self, environment: Mapping[str, str]) -> Mapping[str, str]:
        """The environment of a new rank; that of any other process is left as it is."""
        rank = rank_in(environment)
        if rank is None and self._settings.launcher:
            rank = 0  # a launcher asked for one process tells it no rank
        if rank is None or (rank == rank_in(os.environ) and not self._settings.launcher):
            return environment
        try:
            if environment.get("TORCHELASTIC_RESTART_COUNT", "0") != "0":
                clear_mark(Path(self._settings.common))  # nobody is left of those who stood still
            return armed_environment(rank_settings(self._settings, rank, world_in(environment)), environment)
        except Exception as error:  # noqa: BLE001 - our faults never take the script down
            say(f"rank {rank} runs unwatched ({type(error).__name__}: {error})")
            return environment

    def _wrap_process(self) -> None:
        original = mp_process.BaseProcess.start

        @functools.wraps(original)
        def start(process: Any) -> None:
            with frame_hidden, self._armed_asleep(process):
                original(process)

        self._patches.replace(mp_process.BaseProcess, "start", start)
        run = _remembering(mp_process.BaseProcess.run, self._await_training)
        self._patches.replace(mp_process.BaseProcess, "run", run)

    def _await_training(self, process: Any) -> None:
        """In a forked process: if it trains, it is watched from then on."""
        is_worker = getattr(getattr(process, "_target", None), "__name__", "") == _LOADER_WORKER
        if not self.recorder.is_ours and not is_worker and "torch" in sys.modules:
            Awakening(functools.partial(move_here, self.recorder))

    @contextlib.contextmanager
    def _armed_asleep(self, process: Any) -> Iterator[None]:
        """What the new process is told. Workers of a DataLoader are no ranks; they say where they stand when asked."""
        method = getattr(type(process), "_start_method", None) or multiprocessing.get_start_method()
        if not self.recorder.is_ours or method not in ("spawn", "forkserver"):
            yield
            return
        told = replace(
            self._settings,
            run_folder=str(self.recorder.folder),
            dormant=True,
            launcher=False,
            parent=os.getpid(),
            shared_folder=self._settings.common,
        )
        if method == "forkserver":
            told = replace(told, purpose="server")
        elif getattr(getattr(process, "_target", None), "__name__", "") == _LOADER_WORKER:
            told = replace(told, purpose="worker")
        before = dict(os.environ)
        os.environ.update(armed_environment(told))
        try:
            yield
        finally:
            for name in set(os.environ) - set(before):
                del os.environ[name]
            os.environ.update(before)


def rank_settings(settings: Settings, rank: int, world: int) -> Settings:
    """The settings of one rank, with its folder and run file made."""
    folder = new_rank(Path(settings.common), rank, world=world)
    return replace(
        settings,
        run_folder=str(folder),
        run_file=run_file_of(rank),
        shared_folder=settings.common,
        rank=rank,
        parent=os.getpid(),
        launcher=False,
        dormant=False,
    )


def _nothing(_process: Any) -> None:
    """There is nothing to do before a process begins."""


def _remembering(run: Any, before: Callable[[Any], None] = _nothing) -> Any:
    """What ends the target of a process is kept where the end of the run looks for it: `multiprocessing` drops it."""

    @functools.wraps(run)
    def remembering(process: Any) -> None:
        before(process)
        try:
            run(process)
        except BaseException as error:
            # `torch.multiprocessing.spawn` writes the exception to a file and leaves by `sys.exit`.
            behind = error.__context__ if isinstance(error, SystemExit) else error
            if isinstance(behind, Exception):
                sys.last_value = behind
            hide_frame(error)
            raise

    return remembering


def remember_ends() -> None:
    """In a process that may become a rank: its target runs before it joins a group, and what ends it ends the rank."""
    mp_process.BaseProcess.run = _remembering(mp_process.BaseProcess.run)  # type: ignore[method-assign]


def wake_as_rank(settings: Settings, arm: Callable[[Settings], object]) -> None:
    """A spawned process is watched from the moment it joins a process group, or begins to train without one."""
    awake: list[object] = []

    def begin(number: int) -> None:
        awake.append(arm(rank_settings(settings, free_number(Path(settings.common), number), 1)))

    asleep = Awakening(begin)

    def join(rank: int, world: int) -> None:
        asleep.over()
        if not awake:
            arm(rank_settings(settings, rank, world))

    _before_joining(join)


def move_forked_ranks(recorder: Recorder) -> None:
    """A forked process that joins a process group goes on in a run file of its own."""

    def move(rank: int, world: int) -> None:
        if not recorder.is_ours:
            recorder.move_to(new_rank(Path(recorder.settings.common), rank, world=world), run_file_of(rank), rank)

    _before_joining(move)


def _before_joining(act: Callable[[int, int], object]) -> None:
    """Call once, with the rank and the number of ranks, before this process joins a process group."""
    import torch.distributed as dist

    if not dist.is_available():
        return
    original = dist.init_process_group

    @functools.wraps(original)
    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        dist.init_process_group = original
        rank = kwargs.get("rank", os.environ.get("RANK", ""))
        if str(rank).isdigit():
            act(int(rank), int(kwargs.get("world_size") or os.environ.get("WORLD_SIZE") or 1))
        with frame_hidden:
            return dist.init_process_group(*args, **kwargs)

    dist.init_process_group = init_process_group
