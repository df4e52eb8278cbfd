"""Complex values of a step that become real ones: how large is what is dropped, and who made what holds the rest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch

from torchmedic.facts import ImaginaryDropped
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.trace import Op, Place, Trace
from torchmedic.probes.source.expressions import parsed

_STORE = "aten.copy_"
_CASTS = {torch.ops.aten.copy_.default: 1, torch.ops.aten._to_copy.default: 0}
_LEAST_SHARE = 0.05
_MOST_CASTS = 200


@late_dataclass()
class Dropped:
    """One operation that gave real values for complex ones, and how large the rest was beside the whole."""

    op: Op
    share: float


def dropped_by(func: Any, args: Any, result: Any, op: Op) -> Dropped | None:
    """What an operation of a forward pass drops; None where nothing complex becomes real."""
    at = _CASTS.get(func)
    source = args[at] if at is not None and len(args) > at else None
    if not isinstance(source, torch.Tensor) or not source.is_complex() or result.is_complex() or op.phase != "forward":
        return None
    values = source.detach().resolve_conj()
    whole = float(values.abs().double().mean()) if values.numel() else 0.0
    return Dropped(op, float(values.imag.abs().double().mean()) / whole) if whole else None


def lost_on_the_way(trace: Trace, dropped: list[Dropped], start: int, step: int) -> Iterator[ImaginaryDropped]:
    """The lines that drop something which would have reached the loss."""
    behind = {op.index for op in trace.ancestors(start)} if dropped else set()
    lines: dict[str, list[Dropped]] = {}
    for one in dropped[:_MOST_CASTS]:
        if one.op.index in behind and one.op.place is not None and one.share >= _LEAST_SHARE:
            lines.setdefault(str(one.op.place.location()), []).append(one)
    for seen in lines.values():
        op = seen[0].op
        if op.place is None:
            continue
        is_store = op.name.startswith(_STORE)
        made = _made_at(trace, op) if is_store else None
        yield ImaginaryDropped(
            step=step,
            where=op.place.location(),
            text=op.place.expression(),
            stored=is_store,
            name=_assigned(op.place.code.co_filename, op.place.line) if is_store else "",
            made=made.location() if made is not None else None,
            made_text=made.expression() if made is not None else "",
            dtype=op.outputs[0].dtype if op.outputs else "",
            share=max(one.share for one in seen),
            times=len(seen),
        )


def _made_at(trace: Trace, op: Op) -> Place | None:
    """The operation that made what something is put into, seen through others that were put there before."""
    maker = op.inputs[0].maker
    while maker is not None and trace.ops[maker].name.startswith(_STORE):
        maker = trace.ops[maker].inputs[0].maker
    return trace.ops[maker].place if maker is not None else None


def _assigned(file: str, line: int) -> str:
    """What a statement at a line puts something into: `spectrum` of `spectrum[:, :4] = …`."""
    tree = parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, (ast.Assign, ast.AugAssign)) and node.lineno <= line <= (node.end_lineno or 0):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            while isinstance(target, ast.Subscript):
                target = target.value
            return ast.unparse(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""
    return ""
