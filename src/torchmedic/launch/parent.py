"""Outside the watched process: start it, pass signals on, and know how it ended even if it was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING

from torchmedic.settings import VARIABLE, Settings

# Facts and the store take a tenth of a second to import: the script is started first.
if TYPE_CHECKING:
    from torchmedic.facts import ChildDeath

_BOOT = str(Path(__file__).parents[1] / "_boot")
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH", "SIGQUIT")
_FROM_KEYBOARD = (signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH)
_ATTEND_SECONDS = 1.0
_DEADLY = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGKILL"}


def new_run_folder(command: Sequence[str]) -> Path:
    """A fresh folder for one run, below `.torchmedic` in the working directory (or in the temp folder)."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{Path(script_of(command)).stem}-{os.getpid()}"
    try:
        return _made_apart(_below_working_directory(), name)
    except OSError:
        import tempfile

        return _made_apart(Path(tempfile.mkdtemp(prefix="torchmedic-")), name)


def _made_apart(base: Path, name: str) -> Path:
    """A new folder by this name, or by the first number behind it: one process may begin two runs in a second."""
    number = 1
    while True:
        folder = base / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def shared_run_folder(name: str) -> Path:
    """The folder of a run whose ranks each have a `torchmedic run` of their own; the first of them makes it."""
    folder = _below_working_directory() / name
    folder.mkdir(exist_ok=True)
    return folder


def script_of(command: Sequence[str]) -> str:
    """The script or module that a command is about; behind a launcher's options, the first script."""
    first = command[1] if command[0] == "-m" else command[0]
    return next((word for word in command if word.endswith(".py")), first)


def _below_working_directory() -> Path:
    base = Path(".torchmedic").absolute()
    base.mkdir(exist_ok=True)
    ignore = base / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return base


def _nothing() -> None:
    """There is nothing to do while the script runs."""


def run_script(
    command: Sequence[str],
    folder: Path,
    settings: Settings,
    *,
    silent: bool = False,
    meanwhile: Callable[[], None] = _nothing,
    attend: Callable[[int], None] | None = None,
) -> int:
    """Run `python command…` watched; returns its exit status as the shell would say it (128 + n for a signal).

    While the script starts, its run file is made and `meanwhile` is called. `attend` is told its process id once a
    second as long as it lives.
    """
    started = time.time()

    def prepare() -> None:
        _make_run_file(command, settings, started)
        meanwhile()

    environment = armed_environment(settings)
    status = start_and_wait(command, environment, silent=silent, meanwhile=prepare, attend=attend)
    died_of = -status if status < 0 else None
    status = 128 - status if status < 0 else status
    if (folder / settings.run_file).exists():
        _write_end(folder / settings.run_file, status, died_of, time.time() - started)
    return status


def _make_run_file(command: Sequence[str], settings: Settings, started: float) -> None:
    import platform
    import socket
    import sqlite3

    from torchmedic.facts import RunInfo
    from torchmedic.redaction import redact_argv
    from torchmedic.store import create

    folder = Path(settings.run_folder)
    info = RunInfo(
        argv=redact_argv(command),
        cwd=os.getcwd(),
        python=platform.python_version(),
        started=started,
        rank=settings.rank or 0,
        host=socket.gethostname(),
    )
    try:
        create(folder / settings.run_file, info)
    except (OSError, sqlite3.Error):
        import shutil

        shutil.rmtree(folder)


def _write_end(path: Path, status: int, died_of: int | None, seconds: float) -> None:
    from torchmedic.facts import Crash
    from torchmedic.store import append, discard, update_info

    update_info(path, seconds=seconds, exit_code=status, signal=died_of)
    if status == 0:
        # An exception that did not end the script: in an exit handler, or typed at a prompt.
        discard(path, Crash)
    if died_of is not None and signal.Signals(died_of).name in _DEADLY:
        append(path, [_death(died_of, path.parent)])


def run_unwatched(command: Sequence[str]) -> int:
    """Run `python command…` and nothing else: the last resort when there is no place for a run file."""
    status = start_and_wait(command, dict(os.environ))
    return 128 - status if status < 0 else status


def armed_environment(settings: Settings, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the watched process: our boot folder first on the path, what was there kept aside."""
    environment = dict(os.environ if base is None else base)
    before = environment.get("PYTHONPATH")
    if before is not None:
        environment["TORCHMEDIC_PYTHONPATH"] = before
    environment["PYTHONPATH"] = _BOOT + (os.pathsep + before if before else "")
    environment[VARIABLE] = settings.to_environment()
    return environment


def start_and_wait(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    silent: bool = False,
    kept: tuple[IO[bytes], IO[bytes]] | None = None,
    meanwhile: Callable[[], None] = _nothing,
    attend: Callable[[int], None] | None = None,
) -> int:
    """Start Python as we were started ourselves; signals sent to us go to it, each of them once.

    What it writes on standard output and standard error goes to the files `kept`, where they are given.
    """
    with _signals_passed_on() as adopt:
        child = _start(command, environment, silent, kept)
        adopt(child)
        meanwhile()
        with _attended(child.pid, attend):
            return child.wait()


@dataclass(frozen=True)
class Job:
    """A command for `start_and_wait_all`, and where its output and its errors go."""

    command: Sequence[str]
    environment: dict[str, str]
    kept: tuple[IO[bytes], IO[bytes]] | None


def start_and_wait_all(jobs: Sequence[Job], *, silent: bool) -> list[int]:
    """The same for several processes at once."""
    with _signals_passed_on() as adopt:
        children = []
        for job in jobs:
            children.append(_start(job.command, job.environment, silent, job.kept))
            adopt(children[-1])
        return [child.wait() for child in children]


def _start(
    command: Sequence[str], environment: dict[str, str], silent: bool, kept: tuple[IO[bytes], IO[bytes]] | None
) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, *subprocess._args_from_interpreter_flags(), *command]  # type: ignore[attr-defined]
    quiet = subprocess.DEVNULL if silent else None
    output, errors = kept or (quiet, quiet)
    # Without a terminal the script leads a group of its own, so that a signal to our group is passed on by
    # us alone. With one it stays in ours: the keyboard's signals must reach it, and it may read the terminal.
    group = None if _has_terminal() else 0
    return subprocess.Popen(arguments, env=environment, stdin=quiet, stdout=output, stderr=errors, process_group=group)


@contextlib.contextmanager
def _attended(pid: int, attend: Callable[[int], None] | None) -> Iterator[None]:
    """Call `attend` from a thread while the script runs."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_ATTEND_SECONDS):
            attend(pid)  # type: ignore[misc]

    if attend is not None:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


@contextlib.contextmanager
def _signals_passed_on() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Hand signals to the child that is adopted; what arrives earlier waits for it."""
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if number in _FROM_KEYBOARD and _in_foreground():
            return
        if not children:
            early.append(number)
        for child in children:
            child.send_signal(number)

    def adopt(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in early:
            child.send_signal(number)

    numbers = [getattr(signal, name) for name in _PASSED_ON if hasattr(signal, name)]
    # What we ignore (nohup, a shell's background job), the script is to inherit as ignored.
    ours = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in ours}
    try:
        yield adopt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_terminal() -> bool:
    return _foreground_group() is not None


def _in_foreground() -> bool:
    """Whether the keyboard's signals go to our group, and so to the script itself."""
    return _foreground_group() == os.getpgrp()


def _foreground_group() -> int | None:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return None
    try:
        return os.tcgetpgrp(terminal)
    except OSError:
        return None
    finally:
        os.close(terminal)


def _death(number: int, folder: Path) -> ChildDeath:
    import resource

    from torchmedic.facts import ChildDeath
    from torchmedic.ranks.whereabouts import last_seen

    log = folder / "fault.log"
    lines = tuple(log.read_text(errors="replace").splitlines()[:60]) if log.exists() else ()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return ChildDeath(
        signal=number,
        name=signal.Signals(number).name,
        native_stack=lines,
        peak_memory=peak,
        last_seen=last_seen(folder),
    )
