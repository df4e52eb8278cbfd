"""A second, silent run that looks at what one line makes whole numbers of: had it fractions before."""

from __future__ import annotations

import ast
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from torchmedic.facts import CutField
from torchmedic.probes.data.cut_fields import LEAST_SHARE, makes_integers
from torchmedic.probes.source.expressions import MISSING, parsed, peek
from torchmedic.probes.source.frames import location_of, shown_path, user_frame
from torchmedic.record import Recorder, shielded
from torchmedic.replay.until_training import UntilTraining

_LEAST_ROWS = 50
_MOST_VALUES = 10_000_000


class Casts(UntilTraining):
    """Looks at what torch is given at the line that the settings name, and at plain variables there, to the first step.

    What NumPy is given it does not tell; a variable shows it.
    """

    name = "casts"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._file, _, line = recorder.settings.trial.rpartition(":")
        self._line = int(line)
        self._call, self._each_line = shielded(self)(self._on_call), shielded(self)(self._on_line)
        self._mode = _Conversions(shielded(self)(self._on_conversion))
        self._mode.__enter__()  # type: ignore[no-untyped-call]
        self.follow_running(self._each_line, self._is_around)
        self.follow(self._call)

    def _is_around(self, frame: FrameType) -> bool:
        code = frame.f_code
        last = max((line for _, _, line in code.co_lines() if line), default=0)
        # The numbers first: a path takes the system's time to show.
        return code.co_firstlineno <= self._line <= last and shown_path(code.co_filename) == self._file

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._each_line if self._is_around(frame) else None

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and frame.f_lineno == self._line:
            for cast in self._casts_of(frame):
                given = peek(_operand(cast), frame)
                if given is not MISSING:
                    self._tell(frame, given)
        return self._each_line

    def _on_conversion(self, given: Any, made: torch.Tensor) -> None:
        frame = user_frame()
        is_there = frame is not None and frame.f_lineno == self._line
        if frame is not None and is_there and shown_path(frame.f_code.co_filename) == self._file:
            self._tell(frame, given)

    def _casts_of(self, frame: FrameType) -> list[ast.Call]:
        tree = parsed(frame.f_code.co_filename)
        nodes = ast.walk(tree) if tree is not None else iter(())
        return [n for n in nodes if isinstance(n, ast.Call) and n.lineno == self._line and makes_integers(n)]

    def _name(self, frame: FrameType) -> str:
        tree = parsed(frame.f_code.co_filename)
        nodes = [n for n in (ast.walk(tree) if tree is not None else ()) if isinstance(n, ast.Assign)]
        held = (n for n in nodes if n.lineno <= self._line <= (n.end_lineno or 0))
        return next((ast.unparse(node.targets[0]) for node in held), "")

    def _tell(self, frame: FrameType, given: Any) -> None:
        before = _numbers(given)
        has_fraction = before != np.trunc(before) if before is not None else np.zeros(1, bool)
        source = next((_operand(cast) for cast in self._casts_of(frame)), None)
        # Who computes a number and cuts it in one go makes classes or bins on purpose.
        is_computed = source is None or isinstance(source, ast.BinOp)
        if before is None or is_computed or float(has_fraction.mean()) < LEAST_SHARE:
            return
        after, where = np.trunc(before), location_of(frame)
        self.recorder.observe(
            CutField(
                step=self.recorder.step,
                name=self._name(frame) or where.source.strip(),
                source=ast.unparse(source) if source is not None else "",
                dtype="int64",
                shape=tuple(before.shape[1:]),
                low=float(after.min()),
                high=float(after.max()),
                mean=float(after.mean()),
                spread=float(after.std()),
                fractions=float(has_fraction.mean()),
                example=float(before[has_fraction].ravel()[0]),
                made=where,
                cast=where,
            )
        )


class _Conversions(TorchFunctionMode):
    """Hands on what torch makes tensors of whole numbers from."""

    def __init__(self, tell: Any) -> None:
        super().__init__()
        self._tell = tell

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if args and isinstance(made, torch.Tensor) and made.dtype in (torch.int64, torch.int32, torch.int16):
            self._tell(args[0], made)
        return made


def _operand(cast: ast.Call) -> ast.expr | None:
    """What is cast: the owner of the method, or the first argument of a function."""
    is_method = isinstance(cast.func, ast.Attribute) and cast.func.attr in (
        "long",
        "int",
        "short",
        "astype",
        "type",
        "to",
    )
    if is_method and isinstance(cast.func, ast.Attribute):
        return cast.func.value
    return cast.args[0] if cast.args else None


def _numbers(given: Any) -> np.ndarray[Any, Any] | None:
    """Many finite numbers, of whatever holds them."""
    if type(given) is torch.Tensor:
        given = given.detach().cpu().numpy() if given.layout == torch.strided else None
    elif type(given).__name__ == "Series" and hasattr(given, "to_numpy"):
        given = given.to_numpy()
    if type(given) not in (np.ndarray, list, tuple) or len(given) < _LEAST_ROWS:
        return None
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.size <= _MOST_VALUES and np.isfinite(numbers).all() else None
