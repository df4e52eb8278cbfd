"""Warnings come at the user's lines, once each, in steps that are traced as in those that are not."""

from __future__ import annotations

import types
import warnings
from pathlib import Path

import pytest

import torchmedic
from tests.scripts.twice import twice
from torchmedic.probes.events.warned import place_warnings_at_callers

_SCRIPT = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(30):
    loss = torch.nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    torch.add(torch.ones(2, 2), 1, out=torch.empty(3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_warnings_name_the_lines_that_they_name_without_us(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_SCRIPT)
    bare, watched = twice(["train.py"], tmp_path)
    assert bare.stderr.count(b"UserWarning") == 2
    assert watched.stderr.split(b"torchmedic:")[0] == bare.stderr


def test_a_warning_reaches_code_that_was_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook's `__main__` has neither `__loader__` nor `__spec__.loader`, which Python 3.12 and later refuse."""
    ours, cell = types.ModuleType("ours"), types.ModuleType("__main__")
    exec(compile("import warnings\ndef stand_in(): warnings.warn('said')", torchmedic.__file__, "exec"), vars(ours))
    vars(cell).update(stand_in=ours.stand_in)
    seen: list[tuple[str, int]] = []
    monkeypatch.setattr(warnings, "_showwarnmsg", lambda message: seen.append((message.filename, message.lineno)))
    place_warnings_at_callers()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        exec(compile("\nstand_in()", "cell.py", "exec"), vars(cell))
    assert seen == [("cell.py", 2)]
