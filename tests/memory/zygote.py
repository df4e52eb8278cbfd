"""A process that imports the libraries once and forks for every script.

The tests' own process will not do: once autograd has run in a process, its engine has no place for a pretended card.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch_geometric.nn  # noqa: F401 - once, before the forks
import transformers

from torchmedic.checkups.memory import selftest
from torchmedic.checkups.memory.asking import Request
from torchmedic.checkups.memory.held_files import hold_files
from torchmedic.checkups.memory.held_libraries import lead_libraries
from torchmedic.checkups.memory.session import lost_to, pretend

_LIMIT = 300
_MODELS = ("BertForSequenceClassification", "GPT2LMHeadModel", "ResNetForImageClassification")


def main() -> None:
    """Answer requests from standard input, a line for each."""
    for name in _MODELS:
        getattr(transformers, name)
    gc.freeze()  # a collection in a fork would write to every page of what is held here, and so copy it
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _follow(json.loads(line))
        os.waitpid(child, 0)
        print("done", flush=True)


def _follow(asked: dict[str, Any]) -> None:
    signal.alarm(_LIMIT)
    script, folder = Path(asked["script"]), Path(asked["folder"])
    try:
        output = os.open(folder / "output", os.O_CREAT | os.O_WRONLY)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(script.parent)
        sys.argv = [script.name, *asked["arguments"]]
        if asked["broken"]:
            selftest.check_pretence = _refuse
        overlay = hold_files(folder)
        lead_libraries(overlay, _at_once)
        finish = pretend(Request(**asked["request"]), _at_once, folder, time.monotonic(), overlay)
        main_module = types.ModuleType("__main__")
        main_module.__file__ = script.name
        sys.modules["__main__"] = main_module
        try:
            exec(compile(script.read_bytes(), script.name, "exec"), main_module.__dict__)
        except Exception as error:  # noqa: BLE001 - how the script ends is the answer
            finish(lost_to(error))
        else:
            finish(None)
    except BaseException:  # noqa: BLE001 - the test shows what went wrong
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0)


def _refuse() -> None:
    raise selftest.SelfTestError("the books are off")


def _at_once(module: str, callback: Callable[[], None]) -> None:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:  # a library that this environment lacks
        return
    callback()


if __name__ == "__main__":
    main()
