"""Runs the script on a pretended card and reads the plan that it left."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from torchmedic.checkups.memory.asking import PLAN_FILE, Request
from torchmedic.facts import MemoryPlan, from_plain
from torchmedic.facts.memory_plan import Assumption
from torchmedic.launch.parent import armed_environment, start_and_wait
from torchmedic.settings import Settings

# Compiled or scripted code cannot be seen operation by operation; memory is that of the plain program.
_PLAIN = {"TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1", "PYTORCH_JIT": "0", "WANDB_MODE": "disabled"}


def answer(command: Sequence[str], card: str, *, real: bool = False) -> MemoryPlan | None:
    """The best plan that can be had: on a pretended card, or else with the CPU counted as one."""
    if real:
        return predict(command, Request(card=card, device="real"))
    plan = predict(command, Request(card=card))
    if plan is not None and plan.steps > 0 and plan.peak_allocated > 0:
        return plan
    on_cpu = predict(command, Request(card=card, device="cpu"))
    if plan is not None and plan.lost is not None and on_cpu is not None and on_cpu.lost is not None:
        everywhere = on_cpu.lost.where == plan.lost.where and on_cpu.lost.error == plan.lost.error
        plan = replace(plan, lost=replace(plan.lost, everywhere=everywhere))
        if everywhere:
            return plan
    if on_cpu is None or (plan is not None and plan.peak_allocated > 0 and on_cpu.steps <= plan.steps):
        return plan
    if plan is None or plan.lost is None:
        return on_cpu
    # Why the card could not be pretended is worth knowing beside the second-best answer.
    note = Assumption(what=f"followed on the CPU, because {plan.lost.error}", where=plan.lost.where, times=1)
    return replace(on_cpu, assumed=(note, *on_cpu.assumed))


def predict(command: Sequence[str], request: Request) -> MemoryPlan | None:
    """The plan of a script; None where its process ended without leaving one."""
    folder = Path(tempfile.mkdtemp(prefix="torchmedic-memory-"))
    try:
        request.write(folder)
        settings = Settings(run_folder=str(folder), parent=os.getpid(), purpose="memory")
        environment = {**armed_environment(settings), **_PLAIN}
        start_and_wait(command, environment, silent=not os.environ.get("TORCHMEDIC_MEMORY_LOUD"))
        answer = folder / PLAN_FILE
        return from_plain(MemoryPlan, json.loads(answer.read_text())) if answer.exists() else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
