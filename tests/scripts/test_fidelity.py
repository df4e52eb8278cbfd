"""A script cannot tell whether it is watched: the same command gives the same bytes, status and environment."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.scripts.twice import only_run, twice
from torchmedic.facts import ChildDeath, Crash

PORTRAIT = """
import faulthandler, gc, json, os, signal, sys, threading
print(json.dumps({
    "argv": sys.argv, "path": sys.path, "name": __name__, "file": __file__, "package": __package__,
    "spec": __spec__ and __spec__.name, "main": sys.modules["__main__"].__dict__ is globals(),
    "environment": {k: v for k, v in os.environ.items() if k != "_"}, "cwd": os.getcwd(), "flags": str(sys.flags),
    "stdin": sys.stdin.read(), "threads": [t.name for t in threading.enumerate()],
    "signals": [str(signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP)],
    "mask": str(signal.pthread_sigmask(signal.SIG_BLOCK, [])), "hook": sys.excepthook is sys.__excepthook__,
    "trace": str((sys.gettrace(), sys.getprofile())), "gc": gc.get_threshold(), "limit": sys.getrecursionlimit(),
    "streams": [sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering, sys.stdout.isatty()],
    "warnings": sys.warnoptions, "x": sys._xoptions, "executable": sys.executable,
}))
"""

ENDINGS = {
    "runs to its end": "print('done')",
    "sys.exit()": "import sys; sys.exit()",
    "sys.exit(3)": "import sys; sys.exit(3)",
    "sys.exit(words)": "import sys; sys.exit('words on standard error')",
    "SystemExit(None)": "raise SystemExit(None)",
    "SystemExit(True)": "raise SystemExit(True)",
    "exception": "def f():\n    return 1 / 0\nf()",
    "exception with a cause": "try:\n    {}['x']\nexcept KeyError as e:\n    raise ValueError('bad') from e",
    "syntax error": "def f(:\n    pass",
    "own excepthook": "import sys\nsys.excepthook = lambda *e: print('mine', e[0].__name__, flush=True)\n1 / 0",
    "os._exit": "import os\nprint('said', flush=True)\nos._exit(7)",
    "os._exit by keyword": "import os\nos._exit(status=9)",
    "atexit": "import atexit\natexit.register(print, 'last words')\natexit.register(print, 'words')\n1 / 0",
    "exception in atexit": "import atexit\natexit.register(lambda: 1 / 0)",
    "abort": "import os; os.abort()",
    "kill -9 of itself": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM to itself": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "exception in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()",
    "thread outlives main": "import threading\nthreading.Timer(0.2, print, ['late']).start()",
    "binary output": "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 40)",
    "closed streams": "import os, sys\nos.close(1); os.close(2)\nsys.exit(4)",
    "broken standard error": "import sys\nsys.stderr = None\nprint('on')",
    "recursion": "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError:\n    print('deep')",
    "unicode error": "print('grüße 漢字 \\udcff'.encode('utf-8', 'replace'))\nraise ValueError('漢字 \\ud800')",
    "warnings": "import warnings\nwarnings.warn('old', DeprecationWarning)\nwarnings.warn('use')",
}

PROCESSES = """
import multiprocessing as mp, os, subprocess, sys, threading

def work(n):
    assert mp.current_process().name != "MainProcess"
    return n * n, __name__ in ("__main__", "__mp_main__"), [p for p in sys.path if "torchmedic" in p and "_boot" in p]

def leave(n):
    sys.exit(n)

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = mp.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(work, range(3)))
        child = context.Process(target=leave, args=(5,))
        child.start(); child.join()
        print(method, child.exitcode)
    pid = os.fork()
    if pid == 0:
        print("forked", flush=True)
        sys.exit(6)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    program = "import sys; print(sys.path, sorted(sys.modules))"
    print(subprocess.check_output([sys.executable, "-c", program]))
"""

DEBUGGER = (
    "x = 41\nbreakpoint()\nprint('after', x)\nimport code\ncode.interact(banner='', local={'x': x})\nprint('end')\n"
)


def test_the_script_sees_what_it_sees_without_us(tmp_path: Path) -> None:
    (tmp_path / "portrait.py").write_text(PORTRAIT)
    bare, watched = twice(["portrait.py", "--json", "x", "-m", "a b", "--", "--help"], tmp_path, stdin=b"piped\n")
    assert json.loads(watched.stdout) == json.loads(bare.stdout)
    assert watched == bare


@pytest.mark.parametrize("before", ["", ":", "lib", "lib:"])
def test_pythonpath_stays_as_it_was(tmp_path: Path, before: str) -> None:
    (tmp_path / "portrait.py").write_text(PORTRAIT)
    bare, watched = twice(["portrait.py"], tmp_path, extra={"PYTHONPATH": before})
    assert json.loads(watched.stdout) == json.loads(bare.stdout)


def test_a_module_runs_as_a_module(tmp_path: Path) -> None:
    package = tmp_path / "pkg" / "inner"
    package.mkdir(parents=True)
    (tmp_path / "pkg/__init__.py").write_text("")
    (package / "__init__.py").write_text("WORD = 'relative import'")
    (package / "mod.py").write_text("from . import WORD\nprint(WORD)\n" + PORTRAIT)
    (tmp_path / "pkg/__main__.py").write_text("import argparse\nargparse.ArgumentParser(prog='own help').parse_args()")
    assert (answers := twice(["-m", "pkg.inner.mod", "-h", "--json"], tmp_path))[0] == answers[1]
    assert b"relative import" in answers[1].stdout
    bare, watched = twice(["-m", "pkg", "--help"], tmp_path)
    assert bare == watched
    assert b"own help" in watched.stdout


def test_a_folder_with_a_main_runs(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/__main__.py").write_text("import helper\n" + PORTRAIT)
    (tmp_path / "app/helper.py").write_text("print('beside it')")
    bare, watched = twice(["app", "x"], tmp_path)
    assert bare == watched


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_ends_as_it_would_without_us(tmp_path: Path, ending: str) -> None:
    (tmp_path / "ending.py").write_text(ENDINGS[ending] + "\n", encoding="utf-8")
    bare, watched = twice(["ending.py"], tmp_path)
    assert (watched.status, watched.stdout) == (bare.status, bare.stdout)
    said, expected = _without_addresses(watched.stderr), _without_addresses(bare.stderr)
    assert said.startswith(expected)
    run = only_run(tmp_path)
    if said != expected:
        assert run.first(Crash) is not None or run.first(ChildDeath) is not None, watched.stderr
    assert run.info.exit_code == bare.status


def _without_addresses(text: bytes) -> bytes:
    return re.sub(rb"0x[0-9a-f]+", b"0x", text)


@pytest.mark.parametrize(("ending", "name"), [("abort", "SIGABRT"), ("kill -9 of itself", "SIGKILL")])
def test_a_violent_death_is_a_fact(tmp_path: Path, ending: str, name: str) -> None:
    (tmp_path / "ending.py").write_text(ENDINGS[ending])
    twice(["ending.py"], tmp_path)
    death = only_run(tmp_path).first(ChildDeath)
    assert death is not None
    assert death.name == name


def test_a_segmentation_fault_is_139_and_its_stack_is_kept(tmp_path: Path) -> None:
    (tmp_path / "fault.py").write_text("import ctypes\ndef touch():\n    ctypes.string_at(0)\ntouch()\n")
    bare, watched = twice(["fault.py"], tmp_path)
    assert watched.status == bare.status == 139
    death = only_run(tmp_path).first(ChildDeath)
    assert death is not None
    assert any("touch" in line for line in death.native_stack)


def test_the_users_own_fault_handler_keeps_speaking(tmp_path: Path) -> None:
    (tmp_path / "fault.py").write_text("import ctypes\nctypes.string_at(0)\n")
    bare, watched = twice(["fault.py"], tmp_path, extra={"PYTHONFAULTHANDLER": "1"})
    assert b"Segmentation fault" in bare.stderr
    assert b"Segmentation fault" in watched.stderr


def test_processes_of_every_kind_work(tmp_path: Path) -> None:
    (tmp_path / "processes.py").write_text(PROCESSES)
    bare, watched = twice(["processes.py"], tmp_path)
    assert bare.status == 0, bare.stderr
    assert watched == bare
    assert only_run(tmp_path).info.exit_code == 0


def test_debuggers_read_standard_input(tmp_path: Path) -> None:
    (tmp_path / "debugged.py").write_text(DEBUGGER)
    typed = b"p x + 1\nx = 5\nc\nprint(x * 2)\n1 / 0\n"
    bare, watched = twice(["debugged.py"], tmp_path, stdin=typed)
    assert b"42" in bare.stdout
    assert b"after 5" in bare.stdout
    assert watched == bare
    assert only_run(tmp_path).first(Crash) is None


def test_a_sitecustomize_of_the_users_own_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/sitecustomize.py").write_text("import sys; sys.own = __file__")
    (tmp_path / "s.py").write_text("import sys, sitecustomize; print(sys.own, sitecustomize.__file__)")
    bare, watched = twice(["s.py"], tmp_path, extra={"PYTHONPATH": str(tmp_path / "lib")})
    assert bare.stdout.startswith(str(tmp_path).encode())
    assert watched == bare


def test_a_broken_sitecustomize_complains_as_before(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/sitecustomize.py").write_text("import no_such_module_at_all")
    (tmp_path / "s.py").write_text("print('on')")
    bare, watched = twice(["s.py"], tmp_path, extra={"PYTHONPATH": str(tmp_path / "lib")})
    assert b"no_such_module_at_all" in bare.stderr
    assert watched.stderr == bare.stderr * 2  # once from the script's process, once from our own


def test_a_working_directory_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("print('on')")
    bare, watched = twice([str(tmp_path / "s.py")], Path("/proc/self"), extra={"TMPDIR": str(tmp_path)})
    assert watched == bare
    assert list(tmp_path.glob("torchmedic-*"))


def test_a_full_place_for_run_files_does_not_stop_the_script(tmp_path: Path) -> None:
    """`.torchmedic` is a file and there is no temporary folder: the script runs unwatched, with one line."""
    (tmp_path / "s.py").write_text("print('on')\nraise SystemExit(3)")
    (tmp_path / ".torchmedic").write_text("")
    bare, watched = twice(["s.py"], tmp_path, extra={"TMPDIR": "/proc/none"})
    assert (watched.status, watched.stdout) == (bare.status, bare.stdout)
