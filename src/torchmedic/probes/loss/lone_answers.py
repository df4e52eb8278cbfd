"""A model that folds its whole batch into one row: the loss then compares one answer with the target of each sample."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import Any

import torch

from torchmedic.facts import Location, OneAnswerForAll
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.source.frames import is_user_file, location_of, outward
from torchmedic.probes.source.positions import operand_names, parsed_expression
from torchmedic.record import Recorder

_FOLDING = frozenset(("mean", "sum", "max", "min", "amax", "amin", "median", "logsumexp", "nanmean"))
_COMPARING = frozenset(("sub", "rsub"))
_DISTANCES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))
_MOST_FACTS = 12
_MOST_FOLDS = 200


@late_dataclass()
class _Fold:
    """A call that put all rows into one."""

    rows: int
    missing: str
    called: Location | None


class LoneAnswers:
    """Looks at single calls of an examined step: those that fold rows, and those that compare one with many."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._folds: dict[int, _Fold] = {}
        self._met: list[tuple[Call, OneAnswerForAll]] = []
        self._told = 0

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if call.name in _FOLDING:
            if call.inside_module and _folds_rows(args, kwargs) and len(self._folds) < _MOST_FOLDS:
                self._folds[call.index] = _fold(call, args[0].shape[0])
        elif self._folds and call.name in _COMPARING | _DISTANCES and self._told < _MOST_FACTS:
            sides = _one_and_many(args, kwargs)
            if sides is not None and call.place is not None:
                self._look_at_meeting(trace, call, *sides)

    def _look_at_meeting(self, trace: CallTrace, call: Call, answer: torch.Tensor, target: torch.Tensor) -> None:
        """The rows that were folded are the samples, or the parts of as many graphs."""
        behind = trace.ancestors(trace.maker_of(answer))
        folds = [index for index in self._folds if index in behind]
        index = max(folds, default=None)
        place = trace.calls[index].place if index is not None else None
        if index is None or place is None or call.place is None:
            return
        fold, samples = self._folds[index], target.numel()
        batch = _batch_of(samples)
        if not batch and fold.rows != samples:
            return
        names = operand_names(call.place.expression())
        fact = OneAnswerForAll(
            step=self._recorder.step,
            where=call.place.location(),
            expression=call.place.expression(),
            names=(names[0], names[1]) if len(names) >= 2 else ("input", "target"),
            samples=samples,
            rows=fold.rows,
            folded=place.location(),
            folded_text=place.expression(),
            missing=fold.missing,
            called=fold.called,
            batch=batch,
        )
        self._met.append((call, fact))

    def close(self, trace: CallTrace) -> None:
        for call, fact in self._met:
            if call.name in _DISTANCES or trace.is_reduced(call.index):
                self._told += 1
                self._recorder.observe(fact)
        self._met.clear()
        self._folds.clear()


def _folds_rows(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a reduction runs along the first dimension, and along no other."""
    given = args[0] if args else None
    dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
    if isinstance(dim, (tuple, list)) and len(dim) == 1:
        dim = dim[0]
    if not isinstance(given, torch.Tensor) or not isinstance(dim, int) or given.ndim < 2:
        return False
    return dim % given.ndim == 0 and given.shape[0] > 1


def _fold(call: Call, rows: int) -> _Fold:
    """With the argument of the user's function that is None and stands in the expression, and who called it so."""
    users = [frame for frame in outward(sys._getframe(2)) if is_user_file(frame.f_code.co_filename)]
    node = parsed_expression(call.place.expression()) if call.place is not None else None
    if call.is_users or len(users) < 2 or node is None:
        return _Fold(rows, "", None)
    named = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    given = inspect.getargvalues(users[0])
    missing = next((name for name in given.args if name in named and given.locals.get(name, 0) is None), "")
    return _Fold(rows, missing, location_of(users[1]) if missing else None)


def _one_and_many(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor] | None:
    """One value that is learned and several different ones in a row that are not."""
    first = args[0] if args else kwargs.get("input")
    second = args[1] if len(args) > 1 else kwargs.get("target")
    if not isinstance(first, torch.Tensor) or not isinstance(second, torch.Tensor):
        return None
    answer, target = (first, second) if first.requires_grad else (second, first)
    is_one = answer.requires_grad and answer.ndim > 0 and answer.numel() == 1
    is_row = not target.requires_grad and target.numel() > 1 and target.numel() == max(target.shape)
    return (answer, target) if is_one and is_row and bool((target != target.flatten()[0]).any()) else None


def _batch_of(samples: int) -> str:
    """The name of a batch of PyG with so many graphs, in the user's frames."""
    for frame in outward(sys._getframe(3)):
        for name, thing in frame.f_locals.items() if is_user_file(frame.f_code.co_filename) else ():
            # The class of a batch is made on the spot and tells nothing of where it belongs; its bases do.
            kinds = [base.__module__ for base in type(thing).__mro__]
            if "torch_geometric.data.batch" in kinds and thing.num_graphs == samples:
                return name
    return ""
