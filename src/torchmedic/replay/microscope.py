"""Walks a recorded step backwards from what is bad to the operation that made it so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field

import torch

from torchmedic.facts import Location, Operand, OpFact
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.trace import Op, Seen, Trace
from torchmedic.probes.objects.values import torch_summary
from torchmedic.probes.source.positions import called_name, operand_names
from torchmedic.replay.ancestry import absorber, base_name, known_range, makers
from torchmedic.replay.written import line_with_number

# Operations that put a value in place: an infinity there was written by someone, it did not arise.
_PLACING = (
    "masked_fill",
    "fill",
    "full",
    "where",
    "index_put",
    "copy",
    "scalar_tensor",
    "triu",
    "tril",
    "lift_fresh",
    "clone",
    "_to_copy",
    "index_fill",
    "masked_scatter",
    "select_scatter",
    "new_full",
    "full_like",
    "pad",
)
# Storage that nobody has written yet.
_UNWRITTEN = ("empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "resize")
# Operations that make something finite of an infinity, without a word.
_SWALLOWING = ("rsqrt", "reciprocal", "div", "sigmoid", "tanh", "atan", "exp")
_MOST_KEPT = 60
_LARGEST_KEPT = 50_000_000


@late_dataclass()
class Findings:
    """What the walk found: the first harmful operation, the one that made NaN of infinities, and the way between."""

    origin: Op
    chain: list[Op]
    turn: Op | None = None
    placed: Op | None = None
    entered: Seen | None = None
    others: list[Op] = field(default_factory=list)


def microscope() -> Trace:
    """A trace that looks at values and keeps the operands where finite turned into something else."""
    kept = 0

    def keep(op: Op) -> bool:
        nonlocal kept
        wanted = op.makes_bad and base_name(op.name) not in _UNWRITTEN and (not op.bad_inputs or _turns(op))
        size = sum(_elements(seen) for seen in (*op.inputs, *op.outputs))
        if not wanted or kept >= _MOST_KEPT or size > _LARGEST_KEPT:
            return False
        kept += 1
        return True

    return Trace(values=True, keep=keep)


def _elements(seen: Seen) -> int:
    total = 1
    for size in seen.shape:
        total *= size
    return total


def _turns(op: Op) -> bool:
    """NaN made out of infinities."""
    return any(s.has_nan for s in op.outputs) and not any(s.has_nan for s in op.inputs)


def investigate(trace: Trace, seeds: Iterable[int]) -> Findings | None:
    """Walk from the operations that made the bad loss or gradients back to where it began."""
    bad = _bad_ancestors(trace, seeds)
    if not bad:
        return None
    first = [op for op in bad if not _made_bad_inputs(op)]
    arisen = [op for op in first if not _is_placed(op)]
    swallowed = _swallowed(trace, arisen[0]) if arisen else None
    if swallowed is not None:
        return investigate(trace, [swallowed])
    if arisen:
        origin, placed = arisen[0], None
    else:
        placed = first[0]
        turned = [op for op in bad if _turns(op)]
        origin = turned[0] if turned else placed
    turn = next((op for op in bad if _turns(op) and op.index > origin.index), None)
    entered = next((s for s in origin.bad_inputs if s.maker is None), None)
    return Findings(
        origin=origin,
        chain=_chain(bad, origin),
        turn=None if any(s.has_nan for s in origin.outputs) else turn,
        placed=placed,
        entered=None if placed is not None else entered,
        others=[op for op in arisen if _line(op) != _line(origin)],
    )


def _swallowed(trace: Trace, op: Op) -> int | None:
    """An earlier operation whose infinity became an innocent 0 on the way here, as in `x * rsqrt(inf)`."""
    asked = trace.ops[op.forward].inputs if op.forward is not None else []
    for seen in (*op.inputs, *asked):
        between = trace.ops[seen.maker] if seen.maker is not None and seen.maker < op.index else None
        if between is None or base_name(between.name) not in _SWALLOWING:
            continue
        for read in between.inputs:
            maker = trace.ops[read.maker] if read.maker is not None and read.maker < between.index else None
            if (
                maker is not None
                and not _is_placed(maker)
                and any(s.is_bad for s in maker.outputs if s.key == read.key)
            ):
                return maker.index
    return None


def _bad_ancestors(trace: Trace, seeds: Iterable[int]) -> list[Op]:
    """Operations that made something bad which reaches a seed, in the order they ran."""
    waiting = [index for index in seeds if trace.ops[index].makes_bad]
    found: dict[int, Op] = {}
    while waiting:
        index = waiting.pop()
        if index in found:
            continue
        op = trace.ops[index]
        found[index] = op
        waiting += [s.maker for s in op.bad_inputs if s.maker is not None and trace.ops[s.maker].makes_bad]
    return [found[index] for index in sorted(found)]


def _made_bad_inputs(op: Op) -> list[Seen]:
    return [s for s in op.bad_inputs if s.maker is not None and s.maker != op.index]


def _is_placed(op: Op) -> bool:
    return base_name(op.name) in _PLACING and not op.bad_inputs and not any(s.has_nan for s in op.outputs)


def _line(op: Op) -> tuple[str, int] | None:
    return (op.place.code.co_filename, op.place.line) if op.place else None


def _chain(bad: list[Op], origin: Op) -> list[Op]:
    """From the origin to the loss: one operation per line, forward first."""
    lines: dict[object, Op] = {}
    for op in bad:
        if op.index >= origin.index and op.phase == "forward":
            lines.setdefault((_line(op), op.module), op)
    return list(lines.values())[:12]


def describe(trace: Trace, op: Op) -> OpFact:
    """An operation as a fact, with its operands where they were kept."""
    expression = op.place.expression() if op.place else ""
    _, made = trace.kept.get(op.index, ([], []))
    bad = next((t for t in made if t.is_floating_point() and not bool(torch.isfinite(t).all())), None)
    index = _first_bad(bad) if bad is not None else ()
    forward = trace.ops[op.forward] if op.forward is not None else None
    absorbing = absorber(trace, forward or op) if bad is not None or op.bad_inputs else None
    return OpFact(
        op=op.name,
        phase=op.phase,
        where=op.place.location() if op.place else None,
        library=op.library.location() if op.library else None,
        expression=expression,
        called=called_name(expression),
        module=op.module,
        node=op.node,
        forward_op=forward.name if forward else "",
        operands=_operands(trace, op, expression, index),
        scalars=tuple(float(s) for s in (forward or op).scalars),
        result=torch_summary(bad) if bad is not None else None,
        bad=int((~torch.isfinite(bad)).sum()) if bad is not None else 0,
        index=index,
        makes_nan=any(s.has_nan for s in op.outputs),
        forward_operands=_operands(trace, forward, expression, ()) if forward is not None else (),
        absorbed_by=base_name(absorbing.name) if absorbing is not None else "",
        absorbed_at=absorbing.place.location() if absorbing is not None and absorbing.place else None,
        written_at=_ignored_label_written(trace, op),
        is_own_backward=op.is_own_backward,
    )


def _operands(trace: Trace, op: Op, expression: str, index: tuple[int, ...]) -> tuple[Operand, ...]:
    """What the operation read: from the tensors where they were kept, else by the ranges seen when they were made."""
    names = _names(op, expression) if op.phase == "forward" or op.is_own_backward else ()
    kept, _ = trace.kept.get(op.index, ([], []))
    found = []
    if len(names) > len(op.inputs):
        # `1 / x` is one operation of one tensor: numbers are no operands.
        names = tuple(name for name in names if not _is_number(name))
    for i, seen in enumerate(op.inputs[:6]):
        tensor = kept[i] if i < len(kept) else None
        summary = torch_summary(tensor) if tensor is not None else known_range(trace, seen)
        made_by, made_at = makers(trace, seen)
        value = _value_at(tensor, index) if tensor is not None else None
        name = names[i] if i < len(names) else ""
        found.append(Operand(name=name, tensor=summary, value=value, made_by=made_by, made_at=made_at))
    return tuple(found)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _names(op: Op, expression: str) -> tuple[str, ...]:
    """What the user calls the operands; nothing where the call is that of a module or function which does more."""
    called = called_name(expression)
    if op.library is not None:
        return ()
    if not called.isidentifier() or expression.startswith(("torch.", "F.", "nn.functional.")):
        return operand_names(expression)
    if hasattr(torch.Tensor, called) or hasattr(torch.nn.functional, called) or hasattr(torch, called):
        return operand_names(expression)
    # A loss module is handed what its operation gets: the arguments alone.
    arguments = operand_names(re.sub(r"^[\w.]+\(", "F.loss(", expression))
    return arguments if "loss" in op.name else ()


def _ignored_label_written(trace: Trace, op: Op) -> Location | None:
    """The line that writes the label of a cross-entropy in which all labels are the same one, the ignored."""
    if op.index not in trace.kept:
        return None
    for index in (op.index, *(s.maker for s in op.inputs if s.maker is not None)):
        loss = trace.ops[index]
        if "nll_loss" in loss.name and loss.phase == "forward":
            return line_with_number(float(loss.scalars[-1])) if loss.scalars else None
    return None


def _first_bad(tensor: torch.Tensor) -> tuple[int, ...]:
    bad = (~torch.isfinite(tensor)).nonzero()
    return tuple(int(i) for i in bad[0]) if bad.numel() else ()


def _value_at(tensor: torch.Tensor, index: tuple[int, ...]) -> float | None:
    """The operand's element that met the first bad result, by broadcasting from the right."""
    if tensor.dim() > len(index) or not tensor.numel() or tensor.is_complex():
        return None
    tail = index[len(index) - tensor.dim() :]
    place = tuple(i if size > 1 else 0 for i, size in zip(tail, tensor.shape, strict=True))
    if any(i >= size for i, size in zip(place, tensor.shape, strict=True)):
        return None
    return float(tensor[place])
