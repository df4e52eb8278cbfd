"""Runs scripts under torchmedic in a fork of this process, where torch is imported already: 0.3 s instead of 4."""

from __future__ import annotations

import ast
import atexit
import base64
import contextlib
import dataclasses
import faulthandler
import functools
import gc
import importlib
import linecache
import multiprocessing.process
import os
import pickle
import pkgutil
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType
from typing import Any

# Once, before the forks: every one of them would import these anew.
import duckdb  # noqa: F401
import pandas  # noqa: F401
import torch._dynamo.utils
import torch_geometric.data  # noqa: F401
from rich.console import Console

import torchmedic.checking
import torchmedic.launch.child
import torchmedic.probes
import torchmedic.replay
from torchmedic import settings as options
from torchmedic.cli._attendant import Attendant
from torchmedic.facts import Run, RunInfo
from torchmedic.findings import Verdict
from torchmedic.launch import parent
from torchmedic.launch.refused import is_refusal, start_again
from torchmedic.launch.retrace import SECOND_RUNS, SEEN_AGAIN, settings_again
from torchmedic.probes.source import frames
from torchmedic.ranks.merging import load_whole
from torchmedic.render.text import draw
from torchmedic.rules import catalogue
from torchmedic.store import RUN_FILE, append, create, load
from torchmedic.triage import examine

_TESTS = os.path.dirname(os.path.realpath(__file__))
_ANSWER, _END = b"watched: ", b"end of the answer\n"
_FRAMEWORKS = "accelerate|lightning|sklearn|tokenizers|torch_geometric|transformers"

for _package in (torchmedic.probes, torchmedic.replay):
    for _module in pkgutil.walk_packages(_package.__path__, f"{_package.__name__}."):
        importlib.import_module(_module.name)


def _make_late_classes() -> None:
    """Make the records now that are otherwise made with their first instance: every fork would do it again."""
    modules = [module for name, module in sys.modules.items() if name.startswith("torchmedic.")]
    for kind in {thing for module in modules for thing in vars(module).values() if isinstance(thing, type)}:
        if "__dataclass_fields__" in vars(kind):
            with contextlib.suppress(Exception):
                kind.__init__(object.__new__(kind), *(None for _ in dataclasses.fields(kind)))


_make_late_classes()


@dataclass(frozen=True)
class Watched:
    """A finished run: its facts, its verdict, and what it printed."""

    run: Run
    verdict: Verdict
    stdout: str
    stderr: str
    status: int

    @property
    def codes(self) -> list[str]:
        return [d.code for d in self.verdict.diagnoses if d.severity != "hint"]

    @property
    def guesses(self) -> list[str]:
        """Hints at what nearly every cause brings about: a healthy training must not get those either."""
        modest = {rule.name for rule in catalogue() if rule.gives_way}
        return [d.code for d in self.verdict.diagnoses if d.name in modest]


def run_watched(script: Path, *arguments: str, timeout: int = 120, break_probe: str = "", **wishes: Any) -> Watched:
    """Run a script (in a copy of its folder) as `torchmedic run` would."""
    _import_frameworks(script)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / "work"
        shutil.copytree(script.parent, work)
        folder = Path(scratch) / "run"
        folder.mkdir()
        first = options.Settings(
            run_folder=str(folder), parent=os.getpid(), break_probe=break_probe, **_asked_of(script), **wishes
        )

        def start() -> int:
            create(folder / RUN_FILE, RunInfo(argv=(script.name, *arguments), cwd=str(work)))
            return _in_fork(work, script.name, arguments, first, timeout)

        status = start()
        if is_refusal(128 - status):
            status = start_again(folder, RUN_FILE, start)
        _run_again_if_needed(work, script.name, arguments, first, timeout)
        run = load_whole(folder)
        return Watched(
            run=run,
            verdict=examine(run),
            stdout=(Path(scratch) / "stdout").read_text(errors="replace"),
            stderr=(Path(scratch) / "stderr").read_text(errors="replace"),
            status=status,
        )


def run_watched_afresh(script: Path) -> Watched:
    """The same from a new interpreter: its memory and libraries are the script's own, not those of the tests."""
    server = _new_interpreter()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{script}\n".encode())
    server.stdin.flush()
    said = list(iter(server.stdout.readline, _END))
    (answer,) = [line.removeprefix(_ANSWER) for line in said if line.startswith(_ANSWER)]
    watched: Watched = pickle.loads(base64.b64decode(answer))
    return watched


@functools.cache
def _new_interpreter() -> subprocess.Popen[bytes]:
    """An interpreter that has done nothing but import this module, and forks for every script."""
    code = "from tests.running import _serve; _serve()"
    root = Path(__file__).resolve().parents[1]
    # Libraries that other tests have imported set this one for the whole process.
    environment = {name: value for name, value in os.environ.items() if name != "KMP_DUPLICATE_LIB_OK"}
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", code], cwd=root, env=environment, stdin=pipe, stdout=pipe)
    atexit.register(process.kill)
    return process


def _serve() -> None:
    """Answer scripts from standard input, a line for each."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                answer = base64.b64encode(pickle.dumps(run_watched(Path(line.rstrip("\n")))))
                sys.stdout.write(f"\n{_ANSWER.decode()}{answer.decode()}\n")
                sys.stdout.flush()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        sys.stdout.write(f"\n{_END.decode()}")
        sys.stdout.flush()


def _import_frameworks(script: Path) -> None:
    """What a script will take from a large framework, once, before the forks: there it would take seconds each time."""
    for statement in _frameworks_in(script.read_bytes()):
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            exec(statement, {})


@functools.cache
def _frameworks_in(source: bytes) -> tuple[CodeType, ...]:
    try:
        lines = ast.parse(source).body
    except (SyntaxError, ValueError):
        return ()
    named = [line for line in lines if isinstance(line, (ast.Import, ast.ImportFrom))]
    large = [line for line in named if re.match(rf"(from|import) ({_FRAMEWORKS})\b", ast.unparse(line))]
    return tuple(compile(ast.unparse(line), "<framework>", "exec") for line in large)


def _in_fork(work: Path, script: str, arguments: tuple[str, ...], settings: options.Settings, timeout: int) -> int:
    # What the tests hold is set aside: a collection in the fork would write to every page of it, and so copy it.
    _clear_functions()
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        _child(work, script, arguments, settings, timeout)
    gc.unfreeze()
    folder = Path(settings.run_folder)
    raw = _wait(pid, folder) if settings.on_stuck == "stop" else os.waitpid(pid, 0)[1]
    status = os.waitstatus_to_exitcode(raw)
    if status < 0 and signal.Signals(-status).name in parent._DEADLY:
        append(folder / RUN_FILE, [parent._death(-status, folder)])
    return status


def _wait(pid: int, folder: Path) -> int:
    """Wait for a script that may come to a standstill, and stop it there, as `--on-stuck stop` does."""
    attend = Attendant(folder, "stop", show=lambda verdict: None)
    ended, raw = os.waitpid(pid, os.WNOHANG)
    while not ended:
        time.sleep(0.1)
        attend(pid)
        ended, raw = os.waitpid(pid, os.WNOHANG)
    return raw


def _asked_of(script: Path) -> dict[str, Any]:
    """Settings for a script that hangs, from a first line `# stuck after N s`, or `…, first step after N s` as well."""
    asked = re.match(r"# stuck after ([\d.]+) s(?:, first step after ([\d.]+) s)?\b", script.read_text())
    if asked is None:
        return {}
    first = {"first_step_after": float(asked.group(2))} if asked.group(2) else {}
    return {"on_stuck": "stop", "stuck_after": float(asked.group(1)), **first}


def _run_again_if_needed(
    work: Path, script: str, arguments: tuple[str, ...], first: options.Settings, timeout: int
) -> None:
    """The second, silent runs of `torchmedic run`."""
    folder = Path(first.run_folder)
    for purpose, asks in SECOND_RUNS:
        asked = asks(load(folder))
        if asked is None:
            continue
        second = folder.parent / purpose / "run"
        second.mkdir(parents=True, exist_ok=True)
        create(second / RUN_FILE, RunInfo())
        again = replace(settings_again(first, purpose, asks, asked), run_folder=str(second))
        _in_fork(work, script, arguments, again, timeout)
        append(folder / RUN_FILE, [o for o in load(second).observations if isinstance(o, SEEN_AGAIN)])


def rendered(verdict: Verdict, width: int = 100) -> str:
    """The verdict's text at fixed width, without colour."""
    import io

    out = io.StringIO()
    draw(verdict, Console(file=out, width=width, no_color=True, highlight=False, markup=False, emoji=False))
    return out.getvalue()


def _child(work: Path, script: str, arguments: tuple[str, ...], settings: options.Settings, timeout: int) -> None:
    """In the fork: become the script's process, run it, write the last facts, leave."""
    status = 1
    try:  # nothing may escape from here: a fork that went on would run the tests a second time
        from torchmedic.launch import child

        outside = Path(settings.run_folder).parent
        _become(work, script, arguments, timeout, (outside / "stdout", outside / "stderr"))
        _forget_cached()
        _be_no_user()
        os.environ[options.VARIABLE] = settings.to_environment()
        finish = child.arm()
        status = _run_main(script)
        finish()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@dataclass(frozen=True)
class Bare:
    """How a script ended that nobody watched, and what it printed."""

    status: int
    stdout: str
    stderr: str


def run_bare(script: Path, *arguments: str, timeout: int = 120) -> Bare:
    """Run a script in its own folder as plain Python would."""
    _import_frameworks(script)
    with tempfile.TemporaryDirectory() as scratch:
        streams = Path(scratch, "stdout"), Path(scratch, "stderr")
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                _become(script.parent, script.name, arguments, timeout, streams)
                status = _run_main(script.name)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        gc.unfreeze()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return Bare(status, *(stream.read_text(errors="replace") for stream in streams))


def _become(work: Path, script: str, arguments: tuple[str, ...], timeout: int, streams: tuple[Path, Path]) -> None:
    """Turn a fork into the process of a script: its folder, streams, arguments and modules."""
    signal.alarm(timeout)
    os.chdir(work)
    # A spawned process looks for the script where this was first imported.
    multiprocessing.process.ORIGINAL_DIR = str(work)  # type: ignore[attr-defined]
    for file, number in zip(streams, (1, 2), strict=True):
        os.dup2(os.open(file, os.O_CREAT | os.O_WRONLY), number)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", closefd=False)
    _forget_shadowed(work)
    torch._dynamo.utils.counters.clear()  # what an earlier test compiled in this process is not the script's
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(work))
    faulthandler.disable()  # pytest's own would take the stack of a native crash


def _forget_shadowed(work: Path) -> None:
    """A file beside the script hides a library of the same name, also where the tests have imported that library.

    The tests' own modules would pass for files of the user.
    """
    hidden = {"tests", "bench", "scripts", *(file.stem for file in work.glob("*.py"))}
    for name in [name for name in sys.modules if name.partition(".")[0] in hidden]:
        del sys.modules[name]


def _forget_cached() -> None:
    """Every script is called `bad.py` or `good.py`: what is known of another one of that name must not be believed."""
    linecache.clearcache()
    for clear in _clear_functions():
        clear()


@functools.cache
def _clear_functions() -> list[Callable[[], None]]:
    watching = [m for name, m in sys.modules.items() if name.startswith(("torchmedic.probes.", "torchmedic.replay."))]
    things = {id(thing): thing for module in watching for thing in vars(module).values()}
    # Where a folder lies does not depend on the script.
    known = [thing for thing in things.values() if thing is not frames._real_folder]
    return [thing.cache_clear for thing in known if callable(getattr(thing, "cache_clear", None))]


def _be_no_user() -> None:
    """The frames of the tests lie below the script's, as those of the interpreter would: they are not the user's."""
    roots = (*frames._library_roots(), os.path.join(_TESTS, ""))
    frames._library_roots = lambda: roots


def _run_main(script: str) -> int:
    try:
        main = types.ModuleType("__main__")
        main.__file__ = script
        sys.modules["__main__"] = main
        exec(compile(Path(script).read_bytes(), script, "exec"), main.__dict__)
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 0
    except BaseException as error:  # noqa: BLE001 - as the interpreter does at the top level
        sys.last_value = error
        # torch's handler for dead workers may raise in here too.
        with contextlib.suppress(RuntimeError):
            traceback.print_exc()
        return 1
    return 0
