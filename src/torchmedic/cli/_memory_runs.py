"""Runs the script on a pretended card and reads the plan that it left."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from torchmedic.checkups.memory.asking import PLAN_FILE, Request
from torchmedic.facts import MemoryPlan, from_plain
from torchmedic.launch.parent import armed_environment, start_and_wait
from torchmedic.settings import Settings

# Compiled or scripted code cannot be seen operation by operation; memory is that of the plain program.
_PLAIN = {"TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1", "PYTORCH_JIT": "0", "WANDB_MODE": "disabled"}


def answer(command: Sequence[str], card: str) -> MemoryPlan | None:
    """The best plan that can be had: on a pretended card, or else with the CPU counted as one."""
    plan = predict(command, Request(card=card))
    followed = plan is not None and plan.steps > 0 and plan.peak_allocated > 0
    if followed:
        return plan
    on_cpu = predict(command, Request(card=card, device="cpu"))
    return on_cpu if on_cpu is not None and (plan is None or on_cpu.steps > plan.steps or not plan.peak_allocated) else plan


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
