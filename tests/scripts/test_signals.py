"""Signals reach the script once, whoever they were sent to, and a kill of the parent is a kill of the script."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scripts.twice import BARE, MEDIC, Ended, ended, only_run, start
from torchmedic.store import RUN_FILE, load

WAITING = """
import os, signal, sys, time
try:
    print("ready", os.getpid(), flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(1)  # a second interrupt would end this
    print("saved", flush=True)
    raise
"""

HANDLING = """
import os, signal, sys, time
got = []
def note(number, frame):
    got.append(signal.Signals(number).name)
for name in ("SIGTERM", "SIGUSR1", "SIGHUP"):
    signal.signal(getattr(signal, name), note)
print("ready", os.getpid(), flush=True)
end = time.monotonic() + 60
while not got and time.monotonic() < end:
    time.sleep(0.02)
time.sleep(0.5)
print(got)
sys.exit(11)
"""


def _ready(process: subprocess.Popen[bytes]) -> int:
    """Wait until the script waits; returns the script's own process."""
    assert process.stdout is not None
    return int(process.stdout.readline().split()[1])


def _signalled(prefix: tuple[str, ...], script: str, folder: Path, number: int, *, group: bool) -> Ended:
    folder.mkdir()
    (folder / "s.py").write_text(script)
    process = start(prefix, ["s.py"], folder)
    _ready(process)
    if group:
        os.killpg(process.pid, number)
    else:
        os.kill(process.pid, number)
    return ended(process)


@pytest.mark.parametrize("group", [True, False], ids=["to the group", "to the process"])
def test_an_interrupt_arrives_once(tmp_path: Path, group: bool) -> None:
    bare = _signalled(BARE, WAITING, tmp_path / "bare", signal.SIGINT, group=group)
    watched = _signalled(MEDIC, WAITING, tmp_path / "watched", signal.SIGINT, group=group)
    assert bare.status == 130
    assert b"saved" in bare.stdout
    assert (watched.status, watched.stdout) == (bare.status, bare.stdout)
    assert b"torchmedic" not in watched.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGHUP"])
def test_other_signals_reach_the_scripts_handlers(tmp_path: Path, name: str) -> None:
    number = getattr(signal, name)
    watched = _signalled(MEDIC, HANDLING, tmp_path / "watched", number, group=True)
    assert (watched.status, watched.stdout.strip()) == (11, f"['{name}']".encode())


def test_sigterm_without_a_handler(tmp_path: Path) -> None:
    watched = _signalled(MEDIC, WAITING, tmp_path / "watched", signal.SIGTERM, group=False)
    assert watched.status == 143


def test_ignored_signals_stay_ignored(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        "import signal; print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGHUP))"
    )
    shell = ("sh", "-c", 'trap "" INT HUP; exec "$@"', "sh")
    bare = ended(start((*shell, *BARE), ["s.py"], tmp_path))
    watched = ended(start((*shell, *MEDIC), ["s.py"], tmp_path))
    assert watched == bare


def test_a_kill_of_the_parent_ends_the_script_and_the_file_is_readable_throughout(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(WAITING)
    process = start(MEDIC, ["s.py"], tmp_path)
    script = _ready(process)
    (folder,) = [path for path in (tmp_path / ".torchmedic").iterdir() if path.is_dir()]
    # The script is started first, and the file made meanwhile.
    _wait_until(lambda: (folder / RUN_FILE).exists())
    assert load(folder).info.exit_code is None
    process.kill()
    ended(process)
    _wait_until(lambda: not _alive(script))
    assert not _alive(script)
    assert load(folder).info.argv == ("s.py",)


def test_a_kill_of_the_script_leaves_a_file_with_what_was_seen(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(WAITING)
    process = start(MEDIC, ["s.py"], tmp_path)
    os.kill(_ready(process), signal.SIGKILL)
    assert ended(process).status == 137
    assert only_run(tmp_path).info.signal == signal.SIGKILL


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_steps_made_a_moment_before_the_end_are_counted(tmp_path: Path, name: str) -> None:
    (tmp_path / "s.py").write_text(
        "import os, signal, torch\n"
        "net = torch.nn.Linear(2, 2)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for _ in range(3):\n"
        "    opt.zero_grad(); net(torch.ones(2, 2)).sum().backward(); opt.step()\n"
        f"os.kill(os.getpid(), signal.{name})\n"
    )
    process = start(MEDIC, ["s.py"], tmp_path)
    assert b"no training seen" not in ended(process).stderr
    assert only_run(tmp_path).info.steps == 3


def _wait_until(reached: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not reached() and time.monotonic() < deadline:
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
