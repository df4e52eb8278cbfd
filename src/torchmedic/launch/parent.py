"""Outside the watched process: start it, pass signals on, and know how it ended even if it was killed."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import torchmedic
from torchmedic.facts import ChildDeath, RunInfo
from torchmedic.redaction import redact_argv
from torchmedic.settings import VARIABLE, Settings
from torchmedic.store import RUN_FILE, append, create, update_info

_BOOT = str(Path(torchmedic.__file__).parent / "_boot")
_PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH", "SIGQUIT")
_DEADLY = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGKILL"}


def new_run_folder(script: str) -> Path:
    """A fresh folder for one run, below `.torchmedic` in the working directory (or the temp folder)."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    base = Path(".torchmedic").absolute()
    try:
        base.mkdir(exist_ok=True)
        ignore = base / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError:
        import tempfile

        base = Path(tempfile.mkdtemp(prefix="torchmedic-"))
    folder = base / f"{stamp}-{Path(script).stem}-{os.getpid()}"
    folder.mkdir(parents=True)
    return folder


def run_script(command: Sequence[str], folder: Path, settings: Settings, *, silent: bool = False) -> int:
    """Run `python command…` watched; returns its exit status as the shell would say it (128 + n for a signal)."""
    info = RunInfo(
        argv=redact_argv(command), cwd=os.getcwd(), python=platform.python_version(), started=time.time()
    )
    path = folder / RUN_FILE
    create(path, info)
    arguments = [sys.executable, *subprocess._args_from_interpreter_flags(), *command]  # type: ignore[attr-defined]
    quiet = subprocess.DEVNULL if silent else None
    child = subprocess.Popen(arguments, env=armed_environment(settings), stdout=quiet, stderr=quiet)
    status = _wait(child)
    seconds = time.time() - info.started
    died_of = -status if status < 0 else None
    update_info(path, seconds=seconds, exit_code=status if status >= 0 else 128 - status, signal=died_of)
    if died_of is not None and signal.Signals(died_of).name in _DEADLY:
        append(path, [_death(died_of, folder)])
    return status if status >= 0 else 128 - status


def armed_environment(settings: Settings) -> dict[str, str]:
    """The environment of the watched process: our boot folder first on the path."""
    environment = dict(os.environ)
    before = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = _BOOT + (os.pathsep + before if before else "")
    environment[VARIABLE] = settings.to_environment()
    return environment


def _wait(child: subprocess.Popen[bytes]) -> int:
    """Wait for the child; signals sent to us alone go to it, a terminal's Ctrl-C reaches it by itself."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and sys.stdin is not None and sys.stdin.isatty():
            return
        if child.poll() is None:
            child.send_signal(number)

    numbers = [signal.SIGINT, *(getattr(signal, name) for name in _PASSED_ON if hasattr(signal, name))]
    before = {number: signal.signal(number, pass_on) for number in numbers}
    try:
        return child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _death(number: int, folder: Path) -> ChildDeath:
    import resource

    log = folder / "fault.log"
    lines = tuple(log.read_text(errors="replace").splitlines()[:60]) if log.exists() else ()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return ChildDeath(signal=number, name=signal.Signals(number).name, native_stack=lines, peak_memory=peak)
