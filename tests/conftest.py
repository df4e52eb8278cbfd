"""What holds for every test."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# A busy machine is no fault of what is tested.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Scripts run in forks of the test process, where threads of a pool that it has used before would be waited for in vain.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def nothing_left_on() -> Iterator[None]:
    """A test that leaves torch in a mode of somebody's spoils those that follow in the same process."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "_C"):
        left = torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()
        assert left == (0, 0), f"modes of torch functions and of its dispatcher are still on: {left}"
