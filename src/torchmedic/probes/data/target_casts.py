"""The line that makes whole numbers of what a data set hands out as its target."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torch.utils.data import TensorDataset

from torchmedic.facts import Location
from torchmedic.probes.data.cut_fields import makes_integers
from torchmedic.probes.events.loaders import base_of
from torchmedic.probes.source.expressions import function_of
from torchmedic.probes.source.frames import is_user_file
from torchmedic.probes.source.making_lines import Place, attribute_made, line_with, tensor_given


def target_cast(dataset: Any) -> Callable[[], Location | None]:
    """What finds the line later, when it is wanted: the data set need not be alive then."""
    base = base_of(dataset)
    last = len(base.tensors) - 1 if type(base) is TensorDataset else None
    return partial(_cast_line, type(base), last)


def _cast_line(kind: type, position: int | None) -> Location | None:
    starts = [tensor_given(position)] if position is not None else _handed_out(kind)
    return next((line for start in starts if (line := line_with(start, makes_integers)) is not None), None)


def _handed_out(kind: type) -> Iterator[Place | None]:
    """The last part of what `__getitem__` returns, and the attribute of the data set that it is read from."""
    code = getattr(getattr(kind, "__getitem__", None), "__code__", None)
    function = function_of(code) if code is not None and is_user_file(code.co_filename) else None
    if function is None or code is None:
        return
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    for value in returned:
        if isinstance(value, ast.Tuple) and len(value.elts) > 1:
            yield Place(code.co_filename, function, value.elts[-1])
            own = [n.attr for n in ast.walk(value.elts[-1]) if isinstance(n, ast.Attribute)]
            yield from (attribute_made(kind, attribute) for attribute in own)
