"""Follows scripts on a pretended card, as `torchmedic memory` does, without importing torch for each of them."""

from __future__ import annotations

import atexit
import functools
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from torchmedic.checkups.memory.asking import PLAN_FILE, Request
from torchmedic.facts import MemoryPlan, from_plain

SCRIPTS = Path(__file__).parent / "scripts"
_ROOT = Path(__file__).parents[2]


@functools.cache
def _zygote() -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.memory.zygote"]
    process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


@functools.cache
def plan_of_ours(script: str, *arguments: str) -> MemoryPlan:
    """The plan of one of our scripts, as it is: several tests look at the same one."""
    return plan_of(SCRIPTS / script, *arguments)


def plan_of(script: Path, *arguments: str, request: Request | None = None, broken: bool = False) -> MemoryPlan:
    """The plan of a script; `broken` lets the self-test fail."""
    zygote = _zygote()
    assert zygote.stdin is not None
    assert zygote.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        asked = {
            "script": str(script),
            "arguments": arguments,
            "folder": folder,
            "request": asdict(request or Request()),
            "broken": broken,
        }
        zygote.stdin.write(json.dumps(asked) + "\n")
        zygote.stdin.flush()
        assert zygote.stdout.readline() == "done\n"
        answer = Path(folder) / PLAN_FILE
        assert answer.exists(), (Path(folder) / "output").read_text(errors="replace")[-3000:]
        found: MemoryPlan = from_plain(MemoryPlan, json.loads(answer.read_text()))
        return found


def plan_of_text(text: str, folder: Path, *, request: Request | None = None, broken: bool = False) -> MemoryPlan:
    """The plan of a script given as text."""
    script = folder / "script.py"
    script.write_text(text)
    return plan_of(script, request=request, broken=broken)
