"""What was held at the peak of a true card: the history that an H200 left of three steps of a small network."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from torchmedic.checkups.memory.history import History, Label, Mark
from torchmedic.checkups.memory.summing import shares_of

_RECORDED = json.loads((Path(__file__).parent / "card_history.json").read_text())
# Linear(512, 1024) and Linear(1024, 10), in bytes.
_WEIGHTS = 4 * (512 * 1024 + 1024 + 1024 * 10 + 10)


@pytest.fixture(scope="module")
def history() -> History:
    return History(_RECORDED["events"], [_mark(mark) for mark in _RECORDED["marks"]])


def _mark(plain: Mapping[str, Any]) -> Mark:
    labels = {int(address): Label(**label) for address, label in plain["labels"].items()}
    return Mark(**{**plain, "labels": labels})


def test_the_peak_is_the_one_that_the_card_counted(history: History) -> None:
    # The history holds what was asked for; the counters what was handed out, in pieces of 512 bytes.
    assert history.peak == pytest.approx(_RECORDED["peak_allocated"], rel=1e-4)


def test_weights_gradients_and_moments_are_told_apart(history: History) -> None:
    shares = shares_of(history.held_at_peak())["by_category"]
    assert shares["parameters"] == _WEIGHTS
    assert shares["gradients"] == _WEIGHTS
    assert shares["optimizer state"] == pytest.approx(2 * _WEIGHTS, rel=1e-4)
    assert shares["data"] == 4096 * 512 * 4 + 4096 * 8
    assert sum(shares.values()) == history.peak


def test_lines_and_modules_come_from_the_stacks(history: History) -> None:
    shares = shares_of(history.held_at_peak())
    lines = {share.where.line: share.bytes for share in shares["by_line"] if share.where is not None}
    assert lines[18] == _WEIGHTS  # net = Net().cuda()
    assert lines[21] == 4096 * 512 * 4  # x = torch.randn(4096, 512, device="cuda")
    assert {share.module for share in shares["by_module"]} >= {"embed", ""}


def test_what_the_forward_pass_left_for_backward_are_activations(history: History) -> None:
    saved = [piece for opened, piece in history.log if opened and piece.saved]
    # The scores of `head` were free again before backward began: their softmax is what is kept.
    assert {piece.module for piece in saved} == {"embed", "Net", ""}
    # The output of `embed`, 4096 rows of 1024 floats, in each of three steps.
    assert sum(piece.bytes == 4096 * 1024 * 4 and piece.module == "embed" for piece in saved) == 3


def test_a_build_with_cuda_without_a_card_is_given_an_accelerator_without_devices() -> None:
    code = (
        "import torch; torch.version.cuda = '13.0'\n"
        "from torchmedic.checkups.memory.selftest import check_pretence\n"
        "check_pretence()\n"
        "print(torch.accelerator.current_accelerator())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["nothing"], done.stderr
