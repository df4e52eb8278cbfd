"""Follows scripts on a pretended card in a fork of this process, where the libraries are imported already."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import time
import types
from collections.abc import Callable
from pathlib import Path

import torch._dynamo
import torch.utils.data.dataloader  # noqa: F401

from torchmedic.checkups.memory.asking import PLAN_FILE, Request
from torchmedic.checkups.memory.session import lost_to, pretend
from torchmedic.facts import MemoryPlan, from_plain

SCRIPTS = Path(__file__).parent / "scripts"
_LIMIT = 120


def plan_of(script: Path, *arguments: str, request: Request | None = None) -> MemoryPlan:
    """The plan of a script, as `torchmedic memory` finds it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        child = os.fork()
        if child == 0:
            _follow(script, arguments, request or Request(), folder)
        os.waitpid(child, 0)
        answer = folder / PLAN_FILE
        assert answer.exists(), (folder / "output").read_text(errors="replace")[-3000:]
        found: MemoryPlan = from_plain(MemoryPlan, json.loads(answer.read_text()))
        return found


def plan_of_text(text: str, folder: Path, *, request: Request | None = None) -> MemoryPlan:
    """The plan of a script given as text."""
    script = folder / "script.py"
    script.write_text(text)
    return plan_of(script, request=request)


def _follow(script: Path, arguments: tuple[str, ...], request: Request, folder: Path) -> None:
    signal.alarm(_LIMIT)
    try:
        os.chdir(script.parent)
        output = os.open(folder / "output", os.O_CREAT | os.O_WRONLY)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        sys.argv = [script.name, *arguments]
        finish = pretend(request, _at_once, folder, time.monotonic())
        main = types.ModuleType("__main__")
        main.__file__ = script.name
        sys.modules["__main__"] = main
        try:
            exec(compile(script.read_bytes(), script.name, "exec"), main.__dict__)
        except Exception as error:  # noqa: BLE001 - how the script ends is the answer
            finish(lost_to(error))
        else:
            finish(None)
    finally:
        sys.stdout.flush()
        os._exit(0)


def _at_once(module: str, callback: Callable[[], None]) -> None:
    if module.partition(".")[0] in sys.modules:
        importlib.import_module(module)
        callback()
