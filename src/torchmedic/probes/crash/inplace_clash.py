"""Finds what is known of a saved tensor that an in-place operation changed: its consumers and its names."""

from __future__ import annotations

import re
import traceback

from torchmedic.facts import InplaceClash
from torchmedic.probes.graph.graph_walk import backward_roots, graph, holders, output_shape
from torchmedic.record import Probe

_MESSAGE = re.compile(
    r"\[torch\.\S*Tensor \[([\d, ]*)\]\], which is output \d+ of (\w+), is at version (\d+); expected version (\d+)"
)
_MOST_HOLDERS = 8
_MOST_KINDS = 80


def plain_name(node: str) -> str:
    """`Sigmoid` for `SigmoidBackward0`: messages of newer versions leave the end out."""
    return re.sub(r"Backward\d*$", "", node.rpartition("::")[2])


class InplaceClashes(Probe):
    """Reads the message's facts and looks them up in the graph and in the frames."""

    name = "inplace-clashes"

    def on_crash(self, error: BaseException) -> None:
        text = str(error)
        if "modified by an inplace operation" not in text:
            return
        match = _MESSAGE.search(text)
        if match is None:
            return
        sizes = tuple(int(n) for n in match[1].split(",") if n.strip())
        operation, version, expected = match[2], int(match[3]), int(match[4])
        frames = [f for f, _ in traceback.walk_tb(error.__traceback__)]
        edges = list(graph(backward_roots(frames)))
        consumers = [
            node.name().rpartition("::")[2]
            for node, made in edges
            if plain_name(made.name()) == plain_name(operation) and output_shape(made) in (sizes, ())
        ]
        turned = sizes[::-1]
        fitting = (
            holder
            for holder, tensor in holders(frames)
            if tensor._version == version and tuple(tensor.shape) in (sizes, turned)
        )
        self.recorder.observe(
            InplaceClash(
                operation=operation,
                shape=sizes,
                version=version,
                expected=expected,
                consumers=tuple(dict.fromkeys(consumers)),
                nodes=tuple(sorted({plain_name(node.name()) for edge in edges for node in edge}))[:_MOST_KINDS],
                holders=tuple(h for h, _ in zip(fitting, range(_MOST_HOLDERS), strict=False)),
            )
        )
