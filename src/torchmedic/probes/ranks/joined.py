"""Watches a process join others: its rank, the collectives it calls, in a file that outlives it."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from torchmedic.facts import Joining, RankSeen
from torchmedic.launch.imports import after_import
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden, hide_frame
from torchmedic.probes.ranks.draws import RankDraws
from torchmedic.probes.ranks.exam import RankExam
from torchmedic.probes.ranks.replicas import RankReplicas
from torchmedic.probes.ranks.splits import RankSplits
from torchmedic.probes.ranks.sums import RankSums
from torchmedic.probes.ranks.training_batches import TrainingBatches
from torchmedic.probes.ranks.writes import RankWrites
from torchmedic.probes.source.frames import location_of, user_location
from torchmedic.probes.source.nesting import nests, user_frames
from torchmedic.ranks.calls import CallRing
from torchmedic.ranks.folders import new_rank, run_file_of
from torchmedic.record import Probe, Recorder, say

COLLECTIVES = (
    "all_reduce",
    "broadcast",
    "reduce",
    "barrier",
    "monitored_barrier",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_single",
    "all_gather_object",
    "gather",
    "gather_object",
    "scatter",
    "scatter_object_list",
    "broadcast_object_list",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "reduce_scatter_single",
    "all_to_all",
    "all_to_all_single",
)
# Which rank speaks to which cannot be told from one side.
BETWEEN_TWO = ("send", "recv", "isend", "irecv", "batch_isend_irecv")
GRADIENTS = "gradients"
BUFFERS = "buffers"
# A forward that no backward follows is another call than one that trains.
_EVALUATES = "without gradients"
# The function of torch through which all parts of spread tensors go.
_MOVES = "redistribute_local_tensor"
# At which place a collective is told the one rank that gives or gets.
_ROOTS = {
    "broadcast": 1,
    "broadcast_object_list": 1,
    "reduce": 1,
    "gather": 2,
    "gather_object": 2,
    "scatter": 2,
    "scatter_object_list": 2,
}


class Ranks(Probe):
    """Does nothing until `init_process_group` is called.

    `awake` is called when a forked process has become a rank, so that its threads are started anew.
    """

    name = "ranks"

    def __init__(self, modules: Modules, awake: Callable[[Recorder], None]) -> None:
        self._modules = modules
        self._awake = awake

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._calls: CallRing | None = None
        self._open_gradients = 0
        self._is_gathering = False
        self._taken = TrainingBatches()
        self._is_examined = False
        self._replicas = RankReplicas(self._modules, self.wrappers)
        self._sums = RankSums(self._modules)
        recorder.rest(self)  # until there is another rank to wait for
        if not dist.is_available():
            return
        original = dist.init_process_group

        @functools.wraps(original)
        def init_process_group(*args: Any, **kwargs: Any) -> Any:
            self._guarded(self._before_joining, kwargs)
            with frame_hidden:
                result = original(*args, **kwargs)
            self._guarded(self._joined)
            return result

        self._patches.replace(dist, "init_process_group", init_process_group)
        # Before the script's own `from torch.distributed import barrier`.
        for name in (*COLLECTIVES, *BETWEEN_TWO):
            if hasattr(dist, name):
                self._watch(name)
        self._watch_buffers()
        after_import("torch.distributed.tensor", self._watch_gathering)
        recorder.add(RankSplits())

    def remove(self) -> None:
        self._patches.restore()

    def _guarded(self, action: Callable[..., None], *args: Any) -> None:
        try:
            action(*args)
        except Exception as error:  # noqa: BLE001 - our faults never take the script down
            say(f"this rank is not watched as one ({type(error).__name__}: {error})")

    # -- joining -------------------------------------------------------------------------------------------------

    def _before_joining(self, given: dict[str, Any]) -> None:
        """A rank that is known before it meets the others can be watched while it waits for them."""
        rank = given.get("rank", os.environ.get("RANK", ""))
        if str(rank).isdigit():
            world = int(given.get("world_size") or os.environ.get("WORLD_SIZE") or 1)
            self._become(int(rank), world)
            self.recorder.observe(Joining(rank=int(rank), world=world, where=user_location()))

    def _become(self, rank: int, world: int) -> None:
        """A forked process of a script that is watched goes on in a run file of its own."""
        if not self.recorder.is_ours:
            folder = new_rank(Path(self.recorder.settings.common), rank, world=world)
            self.recorder.move_to(folder, run_file_of(rank), rank)
            self._awake(self.recorder)
        self.recorder.rank = rank
        (self.recorder.folder / f"pid-{os.getpid()}").touch()

    def _joined(self) -> None:
        rank, world = dist.get_rank(), dist.get_world_size()
        self._become(rank, world)
        local = os.environ.get("LOCAL_WORLD_SIZE", "")
        self.recorder.observe(
            RankSeen(
                rank=rank,
                world=world,
                local_world=int(local) if local.isdigit() else None,
                backend=str(dist.get_backend()),
                pid=os.getpid(),
                host=socket.gethostname(),
                where=user_location(),
            )
        )
        self.recorder.join(rank, world)
        if not self._is_examined:
            # Alone, too: a wrapper that is passed by is wrong as soon as there is a second rank.
            self._is_examined = True
            self.recorder.add(RankExam(self._modules, self.wrappers))
        if world > 1 and self._calls is None:
            self._calls = CallRing(self.recorder.folder)
            self.recorder.wake(self)
            for probe in (RankDraws(self._modules), self._replicas, self._sums, RankWrites()):
                self.recorder.add(probe)

    # -- collectives ---------------------------------------------------------------------------------------------

    def _watch(self, name: str) -> None:
        original = getattr(dist, name)

        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            number = self._begin(name, args, kwargs)
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                hide_frame(error)
                raise
            if self._calls is not None and number:
                self._calls.end(number)
            return result

        self._patches.replace(dist, name, watched)

    def _begin(self, name: str, args: Any, kwargs: Any) -> int:
        if self._calls is None or not self.recorder.is_ours:
            return 0
        if name in BETWEEN_TWO:
            self._replicas.note_unseen()
            return 0
        self._replicas.note(_tensors(args, kwargs))
        if name == "all_reduce":
            self._sums.note(_tensors(args, kwargs))
        if not _is_whole_world(kwargs.get("group")):
            return 0
        form = _form(args, kwargs) + _root(name, args, kwargs)
        return self._write_down(self._calls, name, form)

    def _write_down(self, calls: CallRing, name: str, form: str) -> int:
        frames = user_frames(sys._getframe(1))
        where = location_of(frames[0]) if frames else None
        chain = calls.chain(tuple((f.f_code, f.f_lineno) for f in frames), lambda: nests(frames))
        taken = (self._taken.batches, self._taken.passes)
        return calls.begin(name, form, where, self.recorder.step, time.time(), taken=taken, chain=chain)

    def _watch_buffers(self) -> None:
        """The forward of `DistributedDataParallel` spreads the buffers of rank 0, where there are some."""
        kind = torch.nn.parallel.DistributedDataParallel
        original: Any = kind._sync_buffers

        @functools.wraps(original)
        def spread(module: Any) -> None:
            ours = self._calls if self.recorder.is_ours else None
            number = 0
            if ours is not None:
                number = self._write_down(ours, BUFFERS, "" if torch.is_grad_enabled() else _EVALUATES)
            with frame_hidden:
                original(module)
            if ours is not None:
                ours.end(number)

        self._patches.replace(kind, "_sync_buffers", spread)

    def _watch_gathering(self) -> None:
        """What is spread over ranks is put together by all of them: by `full_tensor`, or where an operation asks."""
        kind: Any = sys.modules["torch.distributed.tensor"].DTensor
        self._patches.replace(kind, "full_tensor", self._gathering(kind.full_tensor, "full_tensor", _placed_tensor))
        for name in ("_redistribute", "_dispatch"):
            module = sys.modules.get(f"torch.distributed.tensor.{name}")
            original = getattr(module, _MOVES, None)
            if original is not None:
                self._patches.replace(module, _MOVES, self._gathering(original, "redistribute", _moved_tensor))

    def _gathering(self, original: Any, name: str, form_of: Callable[..., str]) -> Any:
        @functools.wraps(original)
        def gathering(*args: Any, **kwargs: Any) -> Any:
            calls = self._calls if self.recorder.is_ours and not self._is_gathering else None
            form = form_of(*args) if calls is not None else ""
            number = self._write_down(calls, name, form) if calls is not None and form else 0
            self._is_gathering = self._is_gathering or bool(number)
            try:
                with frame_hidden:
                    result = original(*args, **kwargs)
            finally:
                self._is_gathering = self._is_gathering and not number
            if calls is not None and number and not hasattr(result, "trigger_wait"):
                calls.end(number)  # one that is still under way counts as begun
            return result

        return gathering

    def on_batch(self, batch: Any, iterator: Any) -> None:
        self._taken.note(iterator)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        """`DistributedDataParallel` exchanges gradients in here, unless it was told not to."""
        if self._calls is None:
            return
        self._taken.train()
        if any(module.require_backward_grad_sync for module in self.wrappers()):
            self._open_gradients = self._write_down(self._calls, GRADIENTS, "")

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if self._calls is not None and self._open_gradients:
            self._calls.end(self._open_gradients)
            self._open_gradients = 0

    def wrappers(self) -> list[Any]:
        """The `DistributedDataParallel` modules of the script."""
        if self._modules.count() != getattr(self, "_counted", -1):
            self._counted = self._modules.count()
            kind = torch.nn.parallel.DistributedDataParallel
            self._found = [m for m in self._modules.alive() if isinstance(m, kind)]
        return self._found


def _is_whole_world(group: Any) -> bool:
    """Calls in a group of some ranks say nothing about the others."""
    with contextlib.suppress(Exception):
        return group is None or dist.get_world_size(group) == dist.get_world_size()
    return False


def _placed_tensor(tensor: Any, *_: Any) -> str:
    """The form of a tensor of which every rank holds a part, and none all of it; empty for any other."""
    is_spread = any(not placement.is_replicate() for placement in tensor.placements)
    is_over_all = tensor.device_mesh.size() == dist.get_world_size()
    return _form((tensor,), {}) if is_spread and is_over_all else ""


def _moved_tensor(_own: Any, now: Any, then: Any, *_: Any) -> str:
    """The form of a tensor whose parts have to go from rank to rank; empty where each has what it needs."""
    pairs = zip(now.placements, then.placements, strict=False)
    moves = any(not before.is_replicate() and before != after for before, after in pairs)
    meta = now.tensor_meta
    if not moves or meta is None or now.mesh.size() != dist.get_world_size():
        return ""
    return f"{str(meta.dtype).removeprefix('torch.')}{list(meta.shape)}"


def _tensors(args: Any, kwargs: Any) -> list[Any]:
    """What a collective is given, lists of tensors opened."""
    given = [*args, *kwargs.values()]
    return [part for one in given for part in (one if isinstance(one, (list, tuple)) else (one,))]


def _form(args: Any, kwargs: Any) -> str:
    """The form of the first tensor: all ranks have to give the same."""
    # Named arguments come in any order: the tensor itself counts before a list that one rank alone may give.
    named = sorted(kwargs.values(), key=lambda given: not isinstance(given, torch.Tensor))
    first = args[0] if args else next(iter(named), None)
    if isinstance(first, (list, tuple)) and first and isinstance(first[0], torch.Tensor):
        return f"{len(first)} x {_form((first[0],), {})}"
    if not isinstance(first, torch.Tensor):
        return ""
    return f"{str(first.dtype).removeprefix('torch.')}{list(first.shape)}"


def _root(name: str, args: Any, kwargs: Any) -> str:
    """The rank that gives or gets, in words: all ranks have to name the same."""
    place = _ROOTS.get(name)
    if place is None:
        return ""
    given = kwargs.get("src", kwargs.get("dst", args[place] if len(args) > place else 0))
    return f" with rank {given} as root" if isinstance(given, int) else ""
