"""Commands that start ranks (torchrun, `accelerate launch`), and being started by one of them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchmedic.ranks.told import rank_in, world_in

_MODULES = {
    ("torchrun",): "torch.distributed.run",
    ("accelerate", "launch"): "accelerate.commands.launch",
}
_LAUNCHERS = {*_MODULES.values(), "torch.distributed.launch", "accelerate"}


def as_module(command: Sequence[str]) -> tuple[str, ...]:
    """A launcher's command in the form that Python runs; any other command as it is.

    >>> as_module(["torchrun", "--nproc-per-node", "2", "t.py"])
    ('-m', 'torch.distributed.run', '--nproc-per-node', '2', 't.py')
    """
    for words, module in _MODULES.items():
        if tuple(command[: len(words)]) == words and not os.path.exists(command[0]):
            return ("-m", module, *command[len(words) :])
    return tuple(command)


def is_launcher(command: Sequence[str]) -> bool:
    """Whether a command only starts other processes."""
    return len(command) > 1 and command[0] == "-m" and command[1] in _LAUNCHERS


def launched_again(command: Sequence[str], ranks: int) -> tuple[str, ...]:
    """A command of one rank as a command that starts all of them, on this machine."""
    return ("-m", _MODULES["torchrun",], "--standalone", "--nproc-per-node", str(ranks), *command)


@dataclass(frozen=True)
class Place:
    """Our own place among ranks that a launcher has started, each under a `torchmedic run` of its own."""

    rank: int
    world: int
    local_world: int
    is_first_machine: bool
    name: str


def place_in(environment: Mapping[str, str], script: str) -> Place | None:
    """Where we are, by the launcher's variables; None for a run of one process."""
    rank, world = rank_in(environment), world_in(environment)
    if rank is None or world < 2 or "MASTER_ADDR" not in environment:
        return None
    local = environment.get("LOCAL_WORLD_SIZE", "")
    return Place(
        rank=rank,
        world=world,
        local_world=int(local) if local.isdigit() else world,
        is_first_machine=environment.get("GROUP_RANK", "0") == "0",
        name=f"{_started(os.getppid())}-{Path(script).stem}-{os.getppid()}{_life(environment)}",
    )


def _life(environment: Mapping[str, str]) -> str:
    """Ranks that torchrun starts again make another run: theirs is not to be told with the files of the first.

    >>> _life({}), _life({"TORCHELASTIC_RESTART_COUNT": "2"})
    ('', '-2')
    """
    times = environment.get("TORCHELASTIC_RESTART_COUNT", "0")
    return "" if times == "0" else f"-{times}"


def _started(pid: int) -> str:
    """When the launcher was started: all its ranks say the same, so they find the same folder."""
    try:
        import psutil

        started = psutil.Process(pid).create_time()
    except Exception:  # noqa: BLE001 - a launcher that is not ours to look at
        return "ranks"
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(started))
