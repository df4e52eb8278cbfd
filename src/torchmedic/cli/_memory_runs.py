"""Runs the script on a pretended card and reads the plan that it left."""

from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from torchmedic.checkups.memory.asking import PLAN_FILE, Request
from torchmedic.cli._output import OneLineError
from torchmedic.facts import MemoryPlan, from_plain
from torchmedic.facts.memory_plan import Assumption, LostTrack
from torchmedic.launch.parent import Job, armed_environment, start_and_wait_all
from torchmedic.settings import Settings

# Compiled or scripted code cannot be seen operation by operation; memory is that of the plain program.
_PLAIN = {"TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1", "PYTORCH_JIT": "0", "WANDB_MODE": "disabled"}

_OUTPUT, _ERRORS = "stdout.txt", "stderr.txt"
_TAIL = 8192
_OF_TWO_DEVICES = re.compile(r"(to be on|not at) the same device|weight type \(.*\) should be the same")
_AT_ONCE = 2
_SHORT_PATIENCE = 15


def answer(command: Sequence[str], card: str, *, real: bool = False) -> tuple[MemoryPlan | None, Request]:
    """The best plan that can be had, and what was asked for it: on a pretended card, or with the CPU counted as one."""
    asked = Request(card=card)
    plan, words = _followed(command, replace(asked, device="real") if real else asked)
    if plan is None:
        raise OneLineError(f"the script ended before it could be followed: {words or 'it said nothing'}")
    is_whole = plan.names_card and plan.steps > 0 and plan.peak_allocated > 0
    if real or plan.ended or is_whole or _mixes_devices(plan):
        return plan, asked
    best, asked = _second_best(command, asked, plan)
    return (_came_to_nothing(best, words) if best is not None else None), asked


def _second_best(command: Sequence[str], asked: Request, plan: MemoryPlan) -> tuple[MemoryPlan | None, Request]:
    other = _other_number(command, asked, plan) if plan.names_card else None
    if other is not None:
        return other
    if plan.names_card and _waited(plan) and plan.peak_allocated:
        return plan, asked  # what waits for a number waits for it on the CPU as well
    best = _on_cpu(command, asked.card, plan)
    if best is None or best.mode != "fake-cpu":
        return best, asked
    asked = replace(asked, device="cpu")
    return _other_number(command, asked, best) or (best, asked)


def _mixes_devices(plan: MemoryPlan) -> bool:
    """A script that brings together what lies on two devices fails on a true card as well, though not on the CPU.

    One that has left its model on the CPU means the CPU.
    """
    is_mixed = plan.lost is not None and _OF_TWO_DEVICES.search(plan.lost.error) is not None
    return is_mixed and plan.by_category.get("parameters", 0) > 0


def _came_to_nothing(plan: MemoryPlan, words: str) -> MemoryPlan:
    """A script that ends well without a step and without a tensor has no peak: zero bytes would be no answer."""
    if plan.lost is not None or plan.steps or plan.peak_allocated:
        return plan
    said = f"; its last words: {words}" if words else ""
    error = f"it ended without an optimizer step and without a tensor{said}"
    return replace(plan, ended=True, lost=LostTrack(error=error, where=plan.left_at))


def _other_number(command: Sequence[str], asked: Request, plan: MemoryPlan) -> tuple[MemoryPlan, Request] | None:
    """A step behind a condition on a number of the card's is reached with another number, perhaps."""
    if plan.steps or not any(one.what.startswith("a number computed on the card is read") for one in plan.assumed):
        return None
    asked = replace(asked, read_as=0)
    other = predict(command, replace(asked, patience=_SHORT_PATIENCE if _waited(plan) else asked.patience))
    if other is None or not other.steps or other.lost is not None:
        return None
    return replace(other, names_card=plan.names_card), asked


def _waited(plan: MemoryPlan) -> bool:
    return plan.lost is not None and plan.lost.waited


def _on_cpu(command: Sequence[str], card: str, plan: MemoryPlan | None) -> MemoryPlan | None:
    on_cpu = predict(command, Request(card=card, device="cpu"))
    if plan is not None and on_cpu is not None:
        on_cpu = replace(on_cpu, names_card=plan.names_card)
    if plan is not None and plan.lost is not None and on_cpu is not None and on_cpu.lost is not None:
        everywhere = on_cpu.lost.where == plan.lost.where and on_cpu.lost.error == plan.lost.error
        plan = replace(plan, lost=replace(plan.lost, everywhere=everywhere))
        if everywhere:
            return plan
    if on_cpu is None:
        return plan
    if not on_cpu.names_card or plan is None:
        return on_cpu
    if plan.peak_allocated > 0 and on_cpu.steps <= plan.steps:
        return plan
    if plan.lost is None:
        return on_cpu
    # Why the card could not be pretended is worth knowing beside the second-best answer.
    what = f"it could not be followed on a pretended card ({plan.lost.error}), and was followed on the CPU instead"
    note = Assumption(what=what, where=plan.lost.where, times=1)
    return replace(on_cpu, assumed=(note, *on_cpu.assumed))


def predict(command: Sequence[str], request: Request) -> MemoryPlan | None:
    """The plan of a script; None where its process ended without leaving one."""
    return _followed(command, request)[0]


def _untold(_numbers: Sequence[int]) -> None:
    """Nobody looks."""


def predict_each(
    asked: Sequence[tuple[Sequence[str], Request]], tell: Callable[[Sequence[int]], None] = _untold
) -> list[MemoryPlan | None]:
    """The plans of several runs, two at a time where there are processors for it; `tell` hears which come next."""
    at_once = min(_AT_ONCE, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    found: list[MemoryPlan | None] = []
    for first in range(0, len(asked), at_once):
        tell(range(len(asked))[first : first + at_once])
        found += [plan for plan, _ in _followed_together(asked[first : first + at_once])]
    return found


def _followed(command: Sequence[str], request: Request) -> tuple[MemoryPlan | None, str]:
    """The plan of a script, and the last words of its process."""
    return _followed_together([(command, request)])[0]


def _followed_together(asked: Sequence[tuple[Sequence[str], Request]]) -> list[tuple[MemoryPlan | None, str]]:
    silent = not os.environ.get("TORCHMEDIC_MEMORY_LOUD")
    with contextlib.ExitStack() as stack:
        folders = [Path(stack.enter_context(_folder())) for _ in asked]
        jobs = []
        for (command, request), folder in zip(asked, folders, strict=True):
            request.write(folder)
            settings = Settings(run_folder=str(folder), parent=os.getpid(), purpose="memory")
            output = stack.enter_context((folder / _OUTPUT).open("wb"))
            errors = stack.enter_context((folder / _ERRORS).open("wb"))
            environment = {**armed_environment(settings), **_PLAIN}
            jobs.append(Job(command, environment, (output, errors) if silent else None))
        statuses = start_and_wait_all(jobs, silent=silent)
        return [_left_in(folder, status) for folder, status in zip(folders, statuses, strict=True)]


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="torchmedic-memory-", ignore_cleanup_errors=True)


def _left_in(folder: Path, status: int) -> tuple[MemoryPlan | None, str]:
    """The plan and the last words that a process has left."""
    answer = folder / PLAN_FILE
    if not answer.exists():
        return None, _last_words(folder / (_ERRORS if status else _OUTPUT))
    # A signal behind a plan met the tear-down: what the runtime writes then are not the script's words.
    words = _last_words(folder / (_ERRORS if status > 0 else _OUTPUT))
    plan = from_plain(MemoryPlan, json.loads(answer.read_text()))
    return (plan if plan.lost is not None else _ended(plan, status, words)), words


def _ended(plan: MemoryPlan, status: int, words: str) -> MemoryPlan:
    """A script that ends with a status before its first step has something to say.

    A signal after the plan was written met the interpreter's tear-down, where threads of the pretended card may trip:
    by then the script has said all it had to.
    """
    if status <= 0 or plan.steps:
        return plan
    said = f": {words}" if words else ""
    return replace(plan, ended=True, lost=LostTrack(error=f"it ended with status {status}{said}", where=plan.left_at))


def _last_words(file: Path) -> str:
    """The last line that a process wrote, with the place where Python names one for it."""
    with file.open("rb") as errors:
        errors.seek(max(0, file.stat().st_size - _TAIL))
        text = errors.read().decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    places = re.findall(r'^ *File "([^"]+)", line (\d+)', text, re.MULTILINE)
    place = f"{Path(places[-1][0]).name}:{places[-1][1]}: " if places else ""
    return f"{place}{lines[-1]}"[:300]
