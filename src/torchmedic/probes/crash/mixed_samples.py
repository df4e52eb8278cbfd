"""Finds the reshape behind two tensors of other lengths that made several rows of each sample, or one of several."""

from __future__ import annotations

import ast
import itertools
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import torch

from torchmedic.facts import BatchReshaped
from torchmedic.probes.crash.comprehensions import scope_at
from torchmedic.probes.graph.graph_walk import graph, output_shape
from torchmedic.probes.source.expressions import failing_expression, innermost_user, peek
from torchmedic.record import Probe

_MOST_TENSORS = 6


class MixedSamples(Probe):
    """Asks the graph behind the longer or shorter tensor, while it is alive, where its rows ceased to be samples."""

    name = "mixed-samples"

    def on_crash(self, error: BaseException) -> None:
        if not isinstance(error, (RuntimeError, ValueError)):
            return
        for name, tensor, other in _pairs(error.__traceback__):
            found = _crossing(tensor, other.shape[0]) if other.numel() != tensor.shape[0] else None
            if found is not None:
                before, after = found
                self.recorder.observe(
                    BatchReshaped(
                        tensor=name, before=before, after=after, shape=tuple(tensor.shape), other=tuple(other.shape)
                    )
                )
                return


def _pairs(tb: TracebackType | None) -> Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """Tensors with a graph beside one of another length: what a loss was given, and what the failing line reads."""
    held = [frame.f_locals for frame, _ in traceback.walk_tb(tb)]
    found = [(names.get("input"), names.get("target")) for names in reversed(held)]
    level = innermost_user(tb)
    node = failing_expression(level) if level is not None else None
    read = [n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))] if node is not None else []
    scope = scope_at(level) if level is not None else None
    named = [(ast.unparse(n), peek(n, scope)) for n in read] if scope is not None else []
    tensors = [(name, value) for name, value in named if _has_rows(value)][:_MOST_TENSORS]
    known = {id(value): name for name, value in tensors}
    found += [(one, other) for (_, one), (_, other) in itertools.permutations(tensors, 2)]
    for one, other in found:
        if _has_rows(one) and _has_rows(other) and one.grad_fn is not None and one.shape[0] != other.shape[0]:
            yield known.get(id(one), ""), one, other


def _has_rows(thing: Any) -> bool:
    return isinstance(thing, torch.Tensor) and thing.ndim > 0 and thing.layout == torch.strided


def _crossing(tensor: torch.Tensor, batch: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The last reshape of `batch` rows that made as many as the tensor has, unless a later one gave them back."""
    nodes = {tensor.grad_fn, *(node for edge in graph((tensor,)) for node in edge)}
    changes = [(n._sequence_nr(), before, output_shape(n)) for n in nodes if (before := _reshaped(n))]
    made = [c for c in changes if c[1][0] == batch and c[2][:1] == (tensor.shape[0],)]
    back = [at for at, before, after in changes if before[0] != batch and after[:1] == (batch,)]
    last = max(made, default=None)
    return last[1:] if last is not None and all(at < last[0] for at in back) else None


def _reshaped(node: Any) -> tuple[int, ...]:
    """What a `view` was made of; nothing for other operations."""
    if not any(word in node.name() for word in ("View", "ReshapeAlias")):
        return ()
    return tuple(int(n) for n in getattr(node, "_saved_self_sym_sizes", ()))
