"""`torchmedic.assert_finite` names the tensor, its line and what it holds."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import torchmedic
from torchmedic.asserting import NonFiniteError, _ask_later, read_pending
from torchmedic.probes.source.frames import location


def test_finite_tensors_and_integers_pass() -> None:
    torchmedic.assert_finite(torch.ones(3), torch.arange(4), "text")


def test_the_message_names_expression_line_and_values() -> None:
    scores = torch.tensor([1.0, float("nan"), float("inf"), -2.0])
    with pytest.raises(NonFiniteError) as caught:
        torchmedic.assert_finite(scores * 2)
    message = str(caught.value)
    assert "`scores * 2`" in message
    assert "test_assert_finite.py:" in message
    assert "1 NaN and 1 infinite of 4 values" in message
    assert "from -4 to 2" in message


def test_questions_put_on_a_device_are_answered_when_a_step_begins() -> None:
    where = location(__file__, 1)
    bad = torch.tensor([float("inf")])
    _ask_later(torch.isfinite(bad).all(), "h", where, bad)
    parameter = torch.nn.Parameter(torch.ones(1))
    parameter.grad = torch.ones(1)
    with pytest.raises(NonFiniteError, match="`h`"):
        torch.optim.SGD([parameter], lr=0.1).step()
    read_pending()


def test_it_is_off_when_switched_off() -> None:
    code = "import torch, torchmedic; torchmedic.assert_finite(torch.tensor(float('nan'))); print('passed')"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"TORCHMEDIC_ASSERT": "0", "PATH": ""}, capture_output=True, text=True
    )
    assert done.stdout == "passed\n", done.stderr
