"""Finds what carried an old graph into a second backward: the border in the graph and the names that lead to it."""

from __future__ import annotations

import re
import traceback
from dataclasses import replace
from types import CodeType
from typing import Any

import torch

from torchmedic.facts import Holder, StaleGraph
from torchmedic.journal import Backward, Page
from torchmedic.probes.graph.graph_walk import backward_roots, graph, holders, is_leaf_node, output_shape
from torchmedic.probes.source.frames import location_in
from torchmedic.record import Probe, Recorder

_MOST_HOLDERS = 12
# A graph kept alive by `retain_graph=True` fails one step later, when the optimizer has changed what it saved.
_MESSAGE = re.compile("through the graph a second time|modified by an inplace operation")


class StaleGraphs(Probe):
    """Notes how far the last backward reached; at a crash, sorts the graph into old and new by that number."""

    name = "stale-graphs"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._last: tuple[int, tuple[CodeType, int] | None] | None = None

    def on_page(self, lines: Page) -> None:
        self._last = next(
            ((line.root, line.at) for line in reversed(lines) if isinstance(line, Backward) and line.root >= 0),
            self._last,
        )

    def on_crash(self, error: BaseException) -> None:
        if self._last is None or not _MESSAGE.search(str(error)):
            return
        frames = [f for f, _ in traceback.walk_tb(error.__traceback__)]
        roots = backward_roots(frames)
        newest, at = self._last
        first_backward = location_in(*at) if at is not None else None
        if not roots or all(t.grad_fn is None for t in roots):
            return
        if all(t.grad_fn is not None and t.grad_fn._sequence_nr() <= newest for t in roots):
            fact = StaleGraph(
                same_root=True,
                first_backward=first_backward,
                operation=roots[0].grad_fn.name() if roots[0].grad_fn is not None else "",
                shape=tuple(roots[0].shape),
                holders=tuple(h for h, t in holders(frames) if t is roots[0])[:1],
            )
            self.recorder.observe(fact)
            return
        border = [node for _, node in _crossings(roots, newest)]
        if border:
            # The newest old node stands nearest to the name that kept it.
            nearest = max(border, key=lambda n: (_is_freed(n), n._sequence_nr()))
            self.recorder.observe(
                StaleGraph(
                    operation=nearest.name().rpartition("::")[2],
                    shape=output_shape(nearest),
                    first_backward=first_backward,
                    holders=_leading_to(border, newest, frames),
                )
            )


def _crossings(roots: tuple[torch.Tensor, ...], newest: int) -> list[tuple[Any, Any]]:
    """Edges from the new graph into the part that the last backward had gone through."""
    return [
        (node, following)
        for node, following in graph(roots)
        if not is_leaf_node(following) and following._sequence_nr() <= newest < node._sequence_nr()
    ]


def _is_freed(node: Any) -> bool:
    """Whether the tensors that a node saved are gone; a node that saves nothing says nothing."""
    for name in dir(node):
        if name.startswith("_saved_"):
            try:
                getattr(node, name)
            except RuntimeError:
                return True
    return False


def _leading_to(border: list[Any], newest: int, frames: list[Any]) -> tuple[Holder, ...]:
    """Names whose tensor is the old one itself, then names whose graph runs into it."""
    old = {node._sequence_nr() for node in border}
    shapes = {output_shape(node) for node in border}
    exact: list[Holder] = []
    later: list[Holder] = []
    beyond: list[tuple[int, Holder]] = []
    for holder, tensor in holders(frames):
        node = tensor.grad_fn
        if node is None:
            continue
        if node._sequence_nr() <= newest:
            (exact if node._sequence_nr() in old else later).append(replace(holder, is_old=True))
        elif (tuple(tensor.shape) in shapes or holder.kind == "attribute") and any(
            following._sequence_nr() in old for _, following in _crossings((tensor,), newest)
        ):
            # A bank or a queue joins the old tensor with others; what was made first since then kept it for this step.
            if tuple(tensor.shape) in shapes:
                later.append(holder)
            else:
                beyond.append((node._sequence_nr(), holder))
    return tuple([*exact, *later, *(h for _, h in sorted(beyond, key=lambda pair: pair[0]))][:_MOST_HOLDERS])
