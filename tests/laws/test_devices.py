"""Tensors of ours say where they lie: the script's `torch.set_default_device` is meant for its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.laws.tree import package_files

_FACTORIES = frozenset(
    ("arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm", "tensor", "zeros")
)
# These run inside the script's process, beside its own tensors.
_INSIDE = ("probes", "replay", "ranks")


def homeless_tensors(source: str) -> Iterator[int]:
    """Lines that make a tensor without saying on which device."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FACTORIES:
            is_torch = isinstance(node.func.value, ast.Name) and node.func.value.id == "torch"
            if is_torch and not any(keyword.arg == "device" for keyword in node.keywords):
                yield node.lineno


@pytest.mark.parametrize("place", _INSIDE)
def test_every_tensor_of_ours_says_where_it_lies(place: str) -> None:
    files = [file for file in package_files() if place in file.parts and "rules" not in file.parts]
    assert files
    assert [(file.name, line) for file in files for line in homeless_tensors(file.read_text())] == []


def test_a_tensor_without_a_place_is_noticed() -> None:
    assert list(homeless_tensors("import torch\nx = torch.zeros(3)\ny = torch.zeros(3, device='cpu')\n")) == [2]
