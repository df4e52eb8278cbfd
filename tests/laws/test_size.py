"""No function above 60 lines, no file above 400: the tail is what makes code hard to read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.laws.tree import ROOT, own_files

LONGEST_FUNCTION = 60
LONGEST_FILE = 400


def size_faults(source: str) -> list[str]:
    """What is too long in a source text."""
    lines = source.count("\n")
    faults = [f"{lines} lines"] if lines > LONGEST_FILE else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                faults.append(f"`{node.name}` has {length} lines")
    return faults


@pytest.mark.parametrize("path", own_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_too_long(path: Path) -> None:
    assert size_faults(path.read_text()) == []


def test_the_law_on_size_can_be_broken() -> None:
    assert size_faults("def f():\n" + "    x = 1\n" * 59) == []
    assert size_faults("def f():\n" + "    x = 1\n" * 60) == ["`f` has 61 lines"]
    assert size_faults("x = 1\n" * 401) == ["401 lines"]
