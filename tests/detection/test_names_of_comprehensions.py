"""What the names of a comprehension stood for when it failed: since Python 3.12 its frame is that of its function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from torchmedic.facts import Crash, Frame
from torchmedic.probes.crash.clues import clues_of
from torchmedic.probes.crash.exceptions import crash_of

_SCRIPT = """
import operator
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
    def forward(self, x):
        return self.layer(x)

def scored(rows):
    model, row = Net(), torch.zeros(8, 4)
    return [model(row) for row in rows]

def looked_up(rows):
    return {i: [row[name] for name in ("a", "b")] for i, row in enumerate(rows)}

def asked(rows):
    row = "x"
    return {row.strip() for row in rows}

def handed(rows):
    def f(first, *others, last):
        raise ValueError(first)
    return [f(0, row, last=other) for row, other in rows]

def bound_anew(rows):
    def f(x):
        x = len(x)
        raise ValueError(x)
    return [f(row) for row in rows]

def called_back(rows):
    return [sorted(row, key=lambda item: item["a"]) for row in rows]

def converted(rows):
    row = 5
    return [float(row) for row in rows]

class Source:
    def __init__(self):
        self.size = 1

def looped(rows):
    for batch in drawn(Source()):
        print(batch)

def drawn(source):
    return map(operator.itemgetter(0), [None])
"""


def _failed(function: str, rows: Any, folder: Path) -> tuple[Crash, BaseException]:
    file = folder / "train.py"
    file.write_text(_SCRIPT)
    names: dict[str, Any] = {"__name__": "train"}
    exec(compile(_SCRIPT, str(file), "exec"), names)
    with pytest.raises(Exception) as caught:
        names[function](rows)
    return crash_of(caught.value), caught.value


def _frame(function: str, rows: Any, folder: Path) -> Frame:
    crash, _ = _failed(function, rows, folder)
    (found,) = [frame for frame in crash.frames if frame.location.function == function]
    return found


def test_what_a_call_was_given_is_read_from_the_call(tmp_path: Path) -> None:
    import torch

    row = _frame("scored", [torch.zeros(2, 3)], tmp_path).value("row")
    assert row is not None
    assert row.tensor is not None
    assert row.tensor.shape == (2, 3)


def test_an_item_that_lacks_a_key_is_looked_up_again(tmp_path: Path) -> None:
    frame = _frame("looked_up", [{"a": 1, "b": 2}, {"a": 3}], tmp_path)
    assert {v.name: v.text for v in frame.values if v.text} == {"i": "1", "name": "'b'"}
    (key,) = clues_of(_failed("looked_up", [{"a": 1, "b": 2}, {"a": 3}], tmp_path)[1])
    assert (key.container, key.keys) == ("row", ("'a'",))  # type: ignore[attr-defined]


def test_an_item_that_lacks_a_method_is_looked_up_again(tmp_path: Path) -> None:
    row = _frame("asked", ["a", None, "b"], tmp_path).value("row")
    assert row is not None
    assert row.text == "None"


def test_arguments_are_found_by_place_and_by_name(tmp_path: Path) -> None:
    frame = _frame("handed", [("one", "two")], tmp_path)
    assert {v.name: v.text for v in frame.values if v.name != "rows" and v.text} == {"row": "'one'", "other": "'two'"}


@pytest.mark.parametrize("function", ["bound_anew", "called_back"])
def test_what_a_call_holds_otherwise_is_not_taken_for_the_item(function: str, tmp_path: Path) -> None:
    row = _frame(function, [[{}, {}]], tmp_path).value("row")
    assert row is None or row.type == "list"


def test_a_variable_of_the_same_name_is_not_taken_for_the_item(tmp_path: Path) -> None:
    row = _frame("converted", ["1", "n/a"], tmp_path).value("row")
    assert row is None or row.text == "'n/a'"


def test_what_made_an_iterator_is_not_blamed_for_its_items(tmp_path: Path) -> None:
    _, error = _failed("looped", [], tmp_path)
    assert [clue.expression for clue in clues_of(error)] == []  # type: ignore[attr-defined]
