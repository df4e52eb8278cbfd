"""Runs a command twice, bare and under the real `torchmedic run`, each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchmedic.facts import Run
from torchmedic.store import load

_PROGRAM = Path(sys.executable).parent / "torchmedic"
MEDIC = (str(_PROGRAM), "run", "--quiet")
BARE = (_PROGRAM.read_text().splitlines()[0].removeprefix("#!"),)
SECONDS = 120


@dataclass(frozen=True)
class Ended:
    """How a process ended; a signal counts as 128 + n, as a shell says it."""

    status: int
    stdout: bytes
    stderr: bytes


def start(
    prefix: Sequence[str], command: Sequence[str], folder: Path, extra: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, as a job without a terminal."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **(extra or {})}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*prefix, *command],
        cwd=folder,
        env=environment,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        start_new_session=True,
        preexec_fn=_heed_interrupts,
    )


def _heed_interrupts() -> None:
    """A shell's background job ignores interrupts, and so would everything that the tests start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ended(process: subprocess.Popen[bytes], stdin: bytes = b"") -> Ended:
    """Wait for a started process."""
    try:
        stdout, stderr = process.communicate(stdin, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    status = process.returncode
    return Ended(status=128 - status if status < 0 else status, stdout=stdout, stderr=stderr)


def twice(
    command: Sequence[str], folder: Path, stdin: bytes = b"", extra: Mapping[str, str] | None = None
) -> tuple[Ended, Ended]:
    """The same command bare and watched."""
    bare = start(BARE, command, folder, extra)
    watched = start(MEDIC, command, folder, extra)
    return ended(bare, stdin), ended(watched, stdin)


def only_run(folder: Path) -> Run:
    """The one run that was recorded below a working directory."""
    (found,) = [path for path in (folder / ".torchmedic").iterdir() if path.is_dir()]
    return load(found)
