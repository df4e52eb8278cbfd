"""Which card a rank computes on, and the line that chose it."""

from __future__ import annotations

import ast
import socket
from collections.abc import Iterator

import torch

from torchmedic.facts import Location, RankDevice
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files

_CHOOSING = ("cuda", "set_device")


def device_of(model: torch.nn.Module | None, step: int) -> RankDevice:
    """What is known of a rank's card; without a card only the line."""
    parameter = next(model.parameters(), None) if model is not None else None
    if parameter is None or parameter.device.type != "cuda":
        return RankDevice(host=socket.gethostname(), chosen_at=choosing_line(), step=step)
    properties = torch.cuda.get_device_properties(parameter.device)
    return RankDevice(
        device=str(parameter.device),
        identity=str(getattr(properties, "uuid", "")),
        visible=torch.cuda.device_count(),
        host=socket.gethostname(),
        chosen_at=choosing_line(),
        step=step,
    )


def choosing_line() -> Location | None:
    """The first line of the user's that names a card without asking which rank it is."""
    for file in user_files():
        tree = parsed(file)
        lines = sorted(_naming(tree)) if tree is not None else []
        if lines:
            return location(file, lines[0])
    return None


def _naming(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in ("cuda", "cuda:0"):
            yield node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHOOSING:
            first = node.args[0] if node.args else ast.Constant(value=0)
            if isinstance(first, ast.Constant) and first.value in (0, "cuda:0"):
                yield node.lineno
