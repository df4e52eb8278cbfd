"""Other tools from the package index, each in a virtual environment of its own under a cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

PEERS = {"torchmortem": "0.1.1", "torch-audit": "0.3.0", "torchdiag": "0.1.0", "neuraldbg": "1.3.2"}


class NotInstallable(Exception):
    """Why a tool is not there to be asked."""


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "torchmedic-bench"


def python_with(peer: str) -> Path:
    """The interpreter of the environment that has a peer, which is made where it is not there yet.

    The environment borrows torch and the other packages of the environment that runs the bench, so that all tools meet
    the same torch; nothing is ever installed into the latter.
    """
    folder = cache_folder() / f"{peer}-{PEERS[peer]}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        _call([sys.executable, "-m", "venv", "--clear", str(folder)])
        _call([str(python), "-m", "pip", "install", "--quiet", "--no-deps", f"{peer}=={PEERS[peer]}"])
        _borrow_packages(python)
        _call([str(python), "-c", f"import torch, {peer.replace('-', '_')}"])
        ready.touch()
    return python


def _borrow_packages(python: Path) -> None:
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    (Path(own) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")


def _call(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise NotInstallable(lines[-1])
