"""Inside the process of the script: pretend a card, follow the training, write the plan, leave."""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from torchmedic.checkups.memory.asking import PLAN_FILE, Request
from torchmedic.facts import MemoryPlan, to_plain
from torchmedic.facts.memory_plan import LostTrack


def start(folder: Path, after_import: Callable[[str, Callable[[], None]], None]) -> None:
    """Prepare this process; the script has not begun yet."""
    request = Request.read(folder)
    began = time.monotonic()
    after_import("torch", lambda: _begin(request, folder, began, after_import))


def _begin(
    request: Request, folder: Path, began: float, after_import: Callable[[str, Callable[[], None]], None]
) -> None:
    from torchmedic.checkups.memory.cards import card_named
    from torchmedic.checkups.memory.following import Following
    from torchmedic.checkups.memory.frameworks import adapt_frameworks
    from torchmedic.checkups.memory.pretending import Pretence
    from torchmedic.checkups.memory.summing import make_plan

    pretence = Pretence(card_named(request.card), request.device, expandable=request.expandable)
    def write(lost: LostTrack | None = None) -> None:
        plan = make_plan(pretence, following.steps, began, f"fake-{request.device}", lost)
        following.end()
        pretence.end()
        _write(plan if request.device == "cpu" else _if_trusted(plan), folder)

    def enough() -> None:
        write()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    following = Following(pretence, enough)
    adapt_frameworks(pretence, after_import)
    pretence.begin()
    following.begin()
    atexit.register(lambda: write(_lost()))


def _if_trusted(plan: MemoryPlan) -> MemoryPlan:
    """The plan, void if the pretence gets a known model wrong on this torch."""
    from torchmedic.checkups.memory.selftest import SelfTestError, check_pretence

    try:
        check_pretence()
    except SelfTestError as error:
        refused = LostTrack(error=f"the pretended card failed its self-test on this torch ({error})", where=None)
        return replace(plan, steps=0, lost=refused)
    return plan


def _write(plan: MemoryPlan, folder: Path) -> None:
    temporary = folder / f"{PLAN_FILE}.part"
    temporary.write_text(json.dumps(to_plain(plan)))
    temporary.replace(folder / PLAN_FILE)


def _lost() -> LostTrack | None:
    """The exception that ended the script, if one did."""
    from torchmedic.probes.frames import is_user_file, location

    error = getattr(sys, "last_value", None)
    if not isinstance(error, BaseException):
        return None
    trace, where = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_user_file(code.co_filename):
            where = location(code.co_filename, trace.tb_lineno, code.co_qualname)
        trace = trace.tb_next
    first = (str(error).strip().splitlines() or [""])[0]
    return LostTrack(error=f"{type(error).__name__}: {first}"[:300], where=where)
