"""The exam of reused graphs: what was computed from parameters once and takes part in the loss of several steps."""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from types import FrameType
from typing import Any

import torch

from torchmedic.facts import Location, ReusedGraph
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.graph.graph_walk import graph, is_leaf_node, output_shape
from torchmedic.probes.objects.holdings import hung, registered
from torchmedic.probes.objects.keepers import storing_statement
from torchmedic.probes.objects.name_paths import keepers_of
from torchmedic.probes.source.frames import location_of, user_frame
from torchmedic.probes.source.sources import hung_at
from torchmedic.record import Probe, Recorder

_LAST_STEP = 4
_LEAST_STEPS = 2
_MOST_NAMES = 8
_MET_IN = "torchmedic_met_in"


class ReuseExam(Probe):
    """Marks the ends of the first steps by autograd's sequence numbers, and looks which losses reach back behind them.

    A graph that is carried from step to step is reached through the step before; one that was computed once is reached
    directly, and by every loss again.
    """

    name = "reuse-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._ends: list[int] = []
        self._ends_of: dict[int, list[int]] = defaultdict(list)

    def on_step_done(self, optimizer: Any) -> None:
        if self.recorder.clock_is_held:
            return
        if self.recorder.step >= _LAST_STEP:
            self.recorder.rest(self)
            return
        end = torch._C._autograd._get_sequence_nr()
        self._ends.append(end)
        self._ends_of[id(optimizer)].append(end)

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        if not self._ends or self.recorder.clock_is_held:
            return
        old: dict[Any, None] = {}  # in the order in which they are met: the first of several is told
        for node, following in graph(tuple(t for t in roots if isinstance(t, torch.Tensor))):
            if (
                not is_leaf_node(following)
                and following._sequence_nr() < self._ends[0]
                and node._sequence_nr() >= self._ends[-1]
            ):
                old[following] = None
        for node in old:
            # Numbers are given out anew in every thread: that it is the same node, only the node itself can tell.
            met = node.metadata.setdefault(_MET_IN, set())
            met.add(self.recorder.step)
            if len(met) == _LEAST_STEPS and self._note(node):
                self.recorder.rest(self)
                return

    def _note(self, node: Any) -> bool:
        """Write down a node that is met again, where parameters behind it were updated meanwhile."""
        updated = self._updated_since(node)
        frame = user_frame(sys._getframe(1))
        name, where = self._kept_as(node, frame) if updated else ("", None)
        if where is None:
            return False
        owners = registered(self._modules.roots())
        names = [owners[id(p)].path for p in updated if id(p) in owners]
        self.recorder.observe(
            ReusedGraph(
                step=self.recorder.step + 1,
                name=name,
                shape=output_shape(node),
                operation=node.name().rpartition("::")[2],
                parameters=tuple(names[:_MOST_NAMES]),
                parameter_count=len(updated),
                where=where,
                backward=location_of(frame) if frame is not None else None,
            )
        )
        return True

    def _kept_as(self, node: Any, frame: FrameType | None) -> tuple[str, Location | None]:
        """The name that keeps what a node has put out, and the line that computed it."""
        for thing, held in hung(self._modules.alive()):
            if isinstance(thing, torch.Tensor) and thing.grad_fn is node:
                return held.attribute, hung_at(type(held.owner), held.attribute)
        tensors = [t for t in gc.get_objects() if type(t) is torch.Tensor and t.grad_fn is node]
        keepers = keepers_of(tensors, frame) if tensors else []
        return (keepers[0][0].name, storing_statement(keepers[0][0]).where) if keepers else ("", None)

    def _updated_since(self, node: Any) -> list[torch.Tensor]:
        """The parameters behind a node whose optimizer has made two steps since the node was made."""
        made = node._sequence_nr()
        held = {
            id(p)
            for optimizer in self._optimizers.alive()
            if sum(end > made for end in self._ends_of[id(optimizer)]) >= _LEAST_STEPS
            for group in optimizer.param_groups
            for p in group["params"]
        }
        leaves = [leaf.variable for leaf in _behind(node) if hasattr(leaf, "variable")]
        return [p for p in leaves if id(p) in held]


def _behind(node: Any) -> list[Any]:
    """A node and all that its gradient flows on to."""
    waiting, seen = [node], {node}
    while waiting:
        for following, _ in waiting.pop().next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return list(seen)
