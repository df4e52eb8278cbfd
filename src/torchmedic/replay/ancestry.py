"""Where the operands of an operation came from in the step, and what became of its results."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import nn

from torchmedic.facts import Amplifier, Location, TensorSummary
from torchmedic.probes.graph.trace import Op, Seen, Trace

_MOST_STEPS = 8
_MOST_CONSUMERS = 400
_ABSORBING = ("where", "nan_to_num", "masked_fill")
# These leave elements out: the bad ones, where the rest that they give is finite.
_SELECTING = ("index", "masked_select", "nansum")
_MIXING = ("mm", "addmm", "bmm", "baddbmm", "convolution", "sum", "mean")
# What only changes the form or the scale of a value: the story goes on with its first operand.
_PASSING = (
    "view", "expand", "unsqueeze", "squeeze", "add", "sub", "rsub", "mul", "div", "clamp", "clamp_min", "clamp_max",
    "_to_copy", "clone", "select", "slice", "permute", "t", "transpose", "_unsafe_view", "reshape", "sqrt", "neg",
    "index", "alias", "index_select", "gather", "repeat", "abs", "detach", "pow",
)  # fmt: skip


def base_name(op: str) -> str:
    """`aten.div_.Tensor` is `div`.

    >>> base_name("aten.div_.Tensor")
    'div'
    """
    name = op.split(".")[1] if op.count(".") >= 1 else op
    return name.rstrip("_") or name


def makers(trace: Trace, seen: Seen) -> tuple[tuple[str, ...], Location | None]:
    """The operations a tensor came from, nearest first, and the user's line of the nearest."""
    names: list[str] = []
    place: Location | None = None
    index = seen.maker
    while index is not None and len(names) < _MOST_STEPS:
        op = trace.ops[index]
        if place is None and op.place is not None:
            place = op.place.location()
        name = base_name(op.name)
        names.append(name)
        if name not in _PASSING:
            break
        index = next((s.maker for s in op.inputs if s.is_float and s.maker is not None and s.maker < op.index), None)
    return tuple(names), place


def known_range(trace: Trace, seen: Seen) -> TensorSummary:
    """A summary of a tensor that was not kept: its range is that of the operation which made it."""
    low, high = seen.low, seen.high
    if not seen.looked_at and seen.maker is not None:
        made = next((s for s in trace.ops[seen.maker].outputs if s.key == seen.key and s.looked_at), None)
        low, high = (made.low, made.high) if made is not None else (math.nan, math.nan)
    known = math.isfinite(low) and math.isfinite(high)
    return TensorSummary(
        shape=seen.shape, dtype=seen.dtype, minimum=low if known else None, maximum=high if known else None
    )


def absorber(trace: Trace, op: Op) -> Op | None:
    """A later operation through which the results of `op` go and that throws some of their elements away."""
    reached = {seen.key for seen in op.outputs}
    looked = 0
    for later in trace.ops[op.index + 1 :]:
        if later.phase != "forward" or looked > _MOST_CONSUMERS:
            break
        if not any(seen.key in reached for seen in later.inputs):
            continue
        looked += 1
        name = base_name(later.name)
        if name in _ABSORBING or (name in _SELECTING and _leaves_out_bad(trace, later)):
            return later
        if later.module != op.module and not later.place:
            break
        if not _mixes(later):
            reached |= {seen.key for seen in later.outputs}
    return None


def _leaves_out_bad(trace: Trace, op: Op) -> bool:
    read = (trace.ops[seen.maker] for seen in op.inputs if seen.is_float and seen.maker is not None)
    return not op.makes_bad and any(maker.makes_bad for maker in read)


def _mixes(op: Op) -> bool:
    """Matrix products and reductions blend elements: after them nothing can be thrown away one by one."""
    name = base_name(op.name)
    return name in _MIXING or "softmax" in name or "loss" in name


def amplifier(
    trace: Trace, roots: list[nn.Module], born_at: Callable[[nn.Module], Location | None]
) -> Amplifier | None:
    """The module without children whose operations enlarged what it was given most."""
    modules = {path or type(root).__name__: m for root in roots for path, m in root.named_modules()}
    best: tuple[float, str, float, float, int] | None = None
    for path, ops in _by_module(trace).items():
        module = modules.get(path)
        if module is None or not list(module.parameters(recurse=False)):
            continue
        before = max((abs(v) for v in _given(trace, path, ops, module)), default=0.0)
        made = [v for op in ops for s in op.outputs for v in (s.low, s.high)]
        after = max((abs(v) for v in made if math.isfinite(v)), default=0.0)
        if before > 0 and (best is None or after / before > best[0]):
            best = (after / before, path, before, after, len(ops))
    if best is None:
        return None
    module = modules[best[1]]
    norms = {name: float(p.detach().norm()) for name, p in module.named_parameters(recurse=False)}
    heaviest = max(norms, key=norms.__getitem__)
    return Amplifier(
        path=best[1],
        type=type(module).__name__,
        before=best[2],
        after=best[3],
        calls=best[4],
        weight=f"{best[1]}.{heaviest}",
        weight_norm=norms[heaviest],
        built=born_at(module),
    )


def _by_module(trace: Trace) -> dict[str, list[Op]]:
    found: dict[str, list[Op]] = {}
    for op in trace.ops:
        if op.phase == "forward" and op.module and op.inputs:
            found.setdefault(op.module, []).append(op)
    return found


def _given(trace: Trace, path: str, ops: list[Op], module: nn.Module) -> list[float]:
    """The range of what a module was handed; its first result stands for what came from outside of the step."""
    weights = [tuple(p.shape) for p in module.parameters(recurse=False)]
    weights += [shape[::-1] for shape in weights]
    handed = [
        seen
        for op in ops
        for seen in op.inputs
        if seen.is_float and seen.maker is not None and trace.ops[seen.maker].module != path
    ]
    ranges = [known_range(trace, seen) for seen in handed if seen.shape not in weights]
    ends = [v for known in ranges for v in (known.minimum, known.maximum) if v is not None]
    made = [s for op in ops for s in op.outputs if s.is_float and s.shape not in weights and math.isfinite(s.high)]
    return ends or [v for s in made[:1] for v in (s.low, s.high)]
