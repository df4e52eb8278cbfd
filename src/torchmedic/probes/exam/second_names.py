"""One model under two names, where the second says that it should be another: a target network, a teacher."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from torch import nn

from torchmedic.facts import SecondName
from torchmedic.probes.source.argument_lines import alias_line
from torchmedic.probes.source.expressions import enclosing_function, function_of, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, user_frame
from torchmedic.record import Probe, Recorder

_OTHER = re.compile(r"(?:^|_)(target|teacher|ref|reference|old|slow|momentum)(?:_|$|net|model|policy)", re.IGNORECASE)
_FIRST_STEPS = 20


class SecondNames(Probe):
    """Looks, at the first backward of each function of the first steps, at the models that the code around it calls."""

    name = "second-names"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: set[CodeType] = set()

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if self.recorder.step > _FIRST_STEPS:
            self.recorder.rest(self)
        frame = user_frame()
        if frame is not None and frame.f_code not in self._seen:
            self._seen.add(frame.f_code)
            self._look(frame)

    def _look(self, frame: FrameType) -> None:
        for scope in _scopes(frame):
            for copy, original, call in _shared(scope, frame):
                self.recorder.observe(
                    SecondName(
                        step=self.recorder.step,
                        copy=copy,
                        original=original,
                        where=alias_line(copy, original),
                        called=location(frame.f_code.co_filename, call.lineno, getattr(scope, "name", "")),
                    )
                )
                return


def _scopes(frame: FrameType) -> Iterator[ast.AST]:
    """The function that calls backward, and the other methods of its object."""
    tree = parsed(frame.f_code.co_filename)
    if tree is None:
        return
    yield enclosing_function(tree, frame)
    owner = frame.f_locals.get("self")
    for method in vars(type(owner)).values() if owner is not None else ():
        code = getattr(inspect.unwrap(method), "__code__", None) if callable(method) else None
        written = function_of(code) if code is not None and is_user_file(code.co_filename) else None
        if written is not None:
            yield written


def _shared(scope: ast.AST, frame: FrameType) -> Iterator[tuple[str, str, ast.Call]]:
    """Names by which the same model is called in a function: that of the copy, that of the original."""
    called: dict[int, dict[str, ast.Call]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            model = peek(node.func, frame)
            if isinstance(model, nn.Module):
                called.setdefault(id(model), {}).setdefault(ast.unparse(node.func), node)
    for names in called.values():
        copies = [name for name in names if _is_another(name)]
        originals = [name for name in names if not _is_another(name)]
        if copies and originals:
            yield copies[0], originals[0], names[copies[0]]


def _is_another(name: str) -> bool:
    """Whether a name tells of a model beside the one that is trained.

    >>> [_is_another(name) for name in ("self.target_net", "teacher", "ref_model", "self.net", "bold", "refine")]
    [True, True, True, False, False, False]
    """
    return _OTHER.search(name.rpartition(".")[2]) is not None
