"""Trials on data: values are mended for one pass only, and a line of preparation is tried on its own operands."""

from __future__ import annotations

import ast
import contextlib
import copy

import numpy as np
import pandas as pd
import pytest
import torch

from torchmedic.replay.mending import LineTrial, Mended


def test_mended_values_come_back_bit_for_bit() -> None:
    tensor = torch.tensor([1.0, float("nan"), float("-inf"), -0.0])
    before = tensor.view(torch.int32).clone()
    with Mended([tensor]):
        assert torch.isfinite(tensor).all()
        assert tensor.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert torch.equal(tensor.view(torch.int32), before)
    assert tensor._version == 0


_TABLE = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [5.0, 5.0, 5.0]})


@pytest.mark.parametrize(
    ("line", "names", "change"),
    [
        ("z = (x - x.mean(0)) / x.std(0)", {"x": _TABLE.to_numpy()}, "divide by `x.std(0)`"),
        ("x = (x - x.mean()) / x.std()", {"x": _TABLE}, "divide by `x.std()`"),
        ("x /= s", {"x": np.ones(3), "s": np.array([0.0, 1.0, 2.0])}, "divide by `s`"),
        ("t['c'] = np.log(t['a'] - 1)", {"t": _TABLE, "np": np}, "keep `t['a'] - 1` above 0"),
        ("y = torch.div(x, x - x)", {"x": torch.ones(3), "torch": torch}, "divide by `x - x`"),
        ("r = 1 / n", {"n": 0}, "divide by `n`"),
        ("y = np.log(x / s)", {"x": np.array([0.0, 1.0]), "s": np.array([0.5, 0.5]), "np": np}, "keep `x / s` above 0"),
        ("y = np.log(x / s)", {"x": np.array([1.0, 1.0]), "s": np.array([0.0, 0.5]), "np": np}, "divide by `s`"),
    ],
)
def test_a_line_is_tried_on_what_it_read(line: str, names: dict[str, object], change: str) -> None:
    names = {key: copy.deepcopy(value) if key in "xst" else value for key, value in names.items()}
    statement = ast.parse(line).body[0]
    trial = LineTrial(statement, names)
    with np.errstate(all="ignore"), contextlib.suppress(ZeroDivisionError):
        exec(line, {}, names)
    assert trial.helps(names, {}).startswith(change)


@pytest.mark.parametrize("line", ["y = x * 2", "y = x / 2", "y = unknown / x", "y = (x / w) + x * np.nan"])
def test_a_line_that_stays_bad_or_cannot_be_tried_is_no_cure(line: str) -> None:
    names = {"x": np.array([np.nan, 1.0]), "np": np, "w": np.array([0.0, 1.0])}
    assert LineTrial(ast.parse(line).body[0], names).helps(names, {}) == ""
