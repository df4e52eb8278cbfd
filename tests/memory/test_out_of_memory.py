"""A card that ran out of memory: what it held is counted and told."""

from __future__ import annotations

import pytest
import torch

from torchmedic.facts import BigTensor, Crash, MemoryAtCrash, Run, RunInfo
from torchmedic.probes.crash.memory import held_by_tensors
from torchmedic.rules.errors.cuda_out_of_memory import CudaOutOfMemory

_SAID = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.68 GiB of which 1.19 GiB is free."
)


def test_live_tensors_are_counted_by_what_they_are_for() -> None:
    # GIVEN a model that has been trained one step
    layer = torch.nn.Linear(1000, 1000)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(2, 1000)).sum().backward()
    optimizer.step()
    # WHEN the live tensors are counted
    held = held_by_tensors("cpu", 1).by_category
    # THEN the shares are those of the model, at least
    weights = 4 * 1000 * 1001
    for role, least in (("parameters", weights), ("gradients", weights), ("optimizer state", 2 * weights)):
        assert held[role] >= least, role


def test_the_diagnosis_tells_what_was_held_and_what_to_ask() -> None:
    crash = Crash(step=3, exception="torch.OutOfMemoryError", message=_SAID, frames=())
    seen = MemoryAtCrash(
        step=3,
        by_category={"activations and other tensors": 9 << 30, "parameters": 1 << 30},
        largest=(BigTensor(bytes=1 << 30, shape=(64, 4096), dtype="float32", category="", op="", module=""),),
    )
    run = Run(info=RunInfo(argv=("train.py", "--batch-size", "64")), observations=(crash, seen))
    (diagnosis,) = CudaOutOfMemory().check(run)
    assert any("9 GiB of activations" in line for line in diagnosis.evidence)
    assert any("float32[64, 4096]" in line for line in diagnosis.evidence)
    assert any("torchmedic memory --card 23.7GiB" in remedy.title for remedy in diagnosis.remedies)


@pytest.mark.parametrize("kind", [RuntimeError, ValueError])
def test_other_crashes_are_not_counted(kind: type[Exception]) -> None:
    from torchmedic.probes.crash.memory import MemoryLeft

    MemoryLeft().on_crash(kind("CUDA error"))
