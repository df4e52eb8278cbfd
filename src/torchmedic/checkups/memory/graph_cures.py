"""Graphs in parts: the model sees some nodes with a few neighbours each, as a sampling loader would hand them over."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.utils._pytree import tree_map

from torchmedic.checkups.memory.cures import Cure
from torchmedic.checkups.memory.intake import is_graph, parts_of, tensors_handed
from torchmedic.checkups.memory.patches import Patches
from torchmedic.checkups.memory.values import value_of

_PARTS = 8
_NEIGHBOURS = 10
_HOPS = 2
_LEAST_NODES = 16


class NodeBatches(Cure):
    """As many nodes in each step as bring in an eighth of the graph with ten neighbours for two hops.

    The rest of the result is zero.
    """

    def __init__(self) -> None:
        self._is_inside = False

    def begin(self, patches: Patches) -> None:
        """Where modules are called, and before the hooks: there the module's `forward` is fixed already."""
        call: Any = torch.nn.Module._call_impl

        def in_parts(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if self._is_inside:
                return call(module, *args, **kwargs)
            self._is_inside = True
            try:
                part = _Part.of((args, kwargs)) if torch.is_grad_enabled() else None
                if part is None:
                    return call(module, *args, **kwargs)
                self.changed += 1
                args, kwargs = tree_map(part.cut, (args, kwargs))
                return tree_map(part.filled, call(module, *args, **kwargs))
            finally:
                self._is_inside = False

        patches.put(torch.nn.Module, "_call_impl", in_parts)


class _Part:
    """Some nodes of a graph and the edges among them that were sampled."""

    def __init__(self, nodes: int, edges: torch.Tensor | None) -> None:
        self._nodes = nodes
        self._edge_count = edges.shape[1] if edges is not None else 0
        reached = sum(_NEIGHBOURS**hop for hop in range(_HOPS + 1)) if edges is not None else 1
        chosen = torch.arange(max(1, nodes // (_PARTS * reached)))
        sampled = []
        for _ in range(_HOPS if edges is not None else 0):
            assert edges is not None
            kept = _few_to_each(edges, chosen, nodes)
            sampled.append(edges[:, kept])
            chosen = torch.unique(torch.cat([chosen, edges[0, kept]]))
        self._chosen = chosen
        numbers = torch.zeros(nodes, dtype=torch.int64)
        numbers[chosen] = torch.arange(len(chosen))
        self._edges = numbers[torch.cat(sampled, 1)] if sampled else None

    @classmethod
    def of(cls, given: Any) -> _Part | None:
        """The graph among the arguments of a model, if there is one whose edges are known."""
        tensors = [tensor for tensor in tensors_handed(given) if tensor.dim()]
        edges = next((value_of(t) for t in tensors if _is_edges(t)), None)
        if edges is not None and edges.numel():
            count = next((t.shape[0] for t in tensors if t.is_floating_point() and t.shape[0] > int(edges.max())), 0)
            return cls(count, edges) if count >= _LEAST_NODES else None
        square = next((t.shape[0] for t in tensors if t.dim() == 2 and t.shape[0] == t.shape[1] >= _LEAST_NODES), 0)
        return cls(square, None) if square and sum(t.shape[0] == square for t in tensors) > 1 else None

    def cut(self, thing: Any) -> Any:
        """An argument, as large as it is for the part."""
        if not isinstance(thing, torch.Tensor):
            return self._cut_graph(thing)
        if _is_edges(thing) and self._edges is not None and thing.shape[1] == self._edge_count:
            return self._edges.to(thing.device)
        return self._cut_tensor(thing)

    def _cut_tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        edges = self._edges.shape[1] if self._edges is not None else 0
        sizes = {self._nodes: len(self._chosen), self._edge_count: edges}
        shape = [sizes.get(length, length) for length in tensor.shape]
        if list(tensor.shape) == shape:
            return tensor
        for axis, length in enumerate(shape):
            tensor = tensor.narrow(axis, 0, length)
        return tensor.contiguous()

    def _cut_graph(self, graph: Any) -> Any:
        parts = parts_of(graph)
        if not parts:
            return graph
        smaller = copy.copy(graph)
        for name, part in parts.items():
            if is_graph(graph):
                smaller[name] = self.cut(part)
            else:
                object.__setattr__(smaller, name, self.cut(part))
        return smaller

    def filled(self, thing: Any) -> Any:
        """A result with a row for every node again, for the loss that expects them."""
        if not isinstance(thing, torch.Tensor) or thing.dim() == 0 or thing.shape[0] != len(self._chosen):
            return thing
        whole = thing.new_zeros((self._nodes, *thing.shape[1:]))
        return whole.index_copy(0, self._chosen.to(thing.device), thing)


def _is_edges(tensor: torch.Tensor) -> bool:
    return tensor.dtype is torch.int64 and tensor.dim() == 2 and tensor.shape[0] == 2 and tensor.shape[1] > 2


def _few_to_each(edges: torch.Tensor, targets: torch.Tensor, nodes: int) -> torch.Tensor:
    """Positions of at most ten edges that lead to each of the targets."""
    wanted = torch.zeros(nodes, dtype=torch.bool)
    wanted[targets] = True
    positions = wanted[edges[1]].nonzero().view(-1)
    order = edges[1, positions].argsort(stable=True)
    ends = edges[1, positions][order]
    counts = torch.bincount(ends, minlength=nodes)
    first = (counts.cumsum(0) - counts)[ends]
    return positions[order][torch.arange(len(ends)) - first < _NEIGHBOURS]
