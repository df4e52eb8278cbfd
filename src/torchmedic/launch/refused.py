"""A second start with fewer instructions, where a processor refused one that it had promised.

Virtual machines may announce matrix or half-precision instructions that their host does not let through. oneDNN, which
computes torch's layers on processors, then chooses them, and the first half-precision layer ends the process.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

VARIABLE, WIDEST_SAFE = "ONEDNN_MAX_CPU_ISA", "AVX2"
LIMITED = f"{VARIABLE}={WIDEST_SAFE}"


def is_refusal(status: int) -> bool:
    """Whether a script died of an instruction that can be forbidden, and is not yet."""
    return status == 128 + signal.SIGILL and VARIABLE not in os.environ


def start_again(folder: Path, run_file: str, start: Callable[[], int]) -> int:
    """Run the script once more, without the instructions; the run folder tells of this second start alone."""
    from torchmedic.facts import ChildDeath, InstructionRefused
    from torchmedic.store import append, load

    death = load(folder / run_file).last(ChildDeath) if (folder / run_file).exists() else None
    for left in folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    os.environ[VARIABLE] = WIDEST_SAFE
    try:
        status = start()
    finally:
        del os.environ[VARIABLE]
    if (folder / run_file).exists():
        stack = death.native_stack if death is not None else ()
        fact = InstructionRefused(variable=VARIABLE, value=WIDEST_SAFE, native_stack=stack, status=status)
        append(folder / run_file, [fact])
    return status
