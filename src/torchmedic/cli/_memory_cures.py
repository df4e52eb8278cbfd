"""Remedies, each estimated anew on the script at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from torchmedic.checkups.memory.asking import Request
from torchmedic.cli._memory_auto import size_axes
from torchmedic.cli._memory_axes import Axis
from torchmedic.cli._memory_runs import predict, predict_each
from torchmedic.facts import MemoryPlan

_WORTH = 0.005
_STATE = "optimizer state"
_MADE = ("activations", "temporaries")
_SAVED_BY_BYTES = 0.75
# What autocast computes in float32.
_WIDE = ("_softmax", "_log_softmax", "native_layer_norm", "exp", "pow", "sum", "norm")


@dataclass(frozen=True)
class Tried:
    """A remedy with the peaks that it leads to, and what there is to say about it."""

    name: str
    title: str
    allocated: int
    reserved: int
    gain: int
    note: str = ""


_REMEDIES = (
    ("bf16", 'compute in bfloat16: `torch.autocast("cuda", dtype=torch.bfloat16)`'),
    ("checkpointing", "compute blocks again in the backward pass: `torch.utils.checkpoint`"),
    ("sdpa", 'use `scaled_dot_product_attention` (`attn_implementation="sdpa"`)'),
    ("fused", "use a fused optimizer: `fused=True`"),
    ("foreach-off", "update parameters one by one: `foreach=False`"),
    ("set-to-none", "let gradients go between steps: `zero_grad(set_to_none=True)`"),
)


def try_remedies(command: Sequence[str], request: Request, plan: MemoryPlan, axis: Axis | None) -> Iterator[Tried]:
    """Every remedy, tried; those that change nothing are said to."""
    requests = [replace(request, remedy=name) for name, _ in _REMEDIES]
    answers = predict_each([(command, each) for each in (*requests, replace(request, expandable=True))])
    for (name, title), answer in zip(_REMEDIES, answers, strict=False):
        if answer is not None and answer.lost is None and answer.steps:
            tried = _tried(name, title, plan, answer)
            yield (_without_matrices(plan, tried) or tried) if name == "sdpa" else tried
    yield from _smaller_batches(command, request, plan, axis)
    yield from _parts_of_the_graph(command, request, plan)
    yield from _smaller_data(command, request, plan)
    yield from _bytes_for_state(plan)
    answer = answers[-1]
    if answer is not None and answer.steps:
        saved = plan.peak_reserved - answer.peak_reserved
        note = "" if saved > _WORTH * plan.peak_reserved else "gains nothing: little memory lies in fragments"
        title = "keep memory in one piece: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`"
        yield Tried("expandable-segments", title, answer.peak_allocated, answer.peak_reserved, saved, note)


def _without_matrices(plan: MemoryPlan, tried: Tried) -> Tried | None:
    """Attention written out by hand cannot be exchanged from outside: what its matrices hold is calculated."""
    shape = next((big.shape for big in plan.largest if big.op == "_softmax" and _is_square(big.shape)), None)
    if shape is None or tried.gain > _WORTH * plan.peak_allocated:
        return None
    saved = sum(big.bytes for big in plan.largest if big.shape[-2:] == shape[-2:] and big.category in _MADE)
    note = "calculated from the largest tensors, not run: the attention is written by hand"
    return replace(
        tried, allocated=plan.peak_allocated - saved, reserved=plan.peak_reserved - saved, gain=saved, note=note
    )


def _is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2 and shape[-1] == shape[-2]


def _tried(name: str, title: str, plan: MemoryPlan, answer: MemoryPlan) -> Tried:
    gain = plan.peak_allocated - answer.peak_allocated
    note = "" if gain > _WORTH * plan.peak_allocated else f"gains nothing: {_why_not(name, plan, answer)}"
    return Tried(name, title, answer.peak_allocated, answer.peak_reserved, gain, note)


def _why_not(name: str, plan: MemoryPlan, answer: MemoryPlan) -> str:
    largest = max(plan.by_category, key=lambda key: plan.by_category[key], default="")
    if name in ("fused", "foreach-off") and plan.phase != "optimizer":
        return f"the peak is in {plan.phase}, not in the optimizer step"
    if name == "sdpa":
        return "no attention that keeps its matrices was found"
    if name == "node-batches":
        return "the arguments of the model hold no whole graph, or the nodes are not what is held"
    if name == "set-to-none":
        return "gradients are let go already, or are not what is held at the peak"
    if name == "bf16" and _is_narrow(plan):
        return "most of what is computed is held in 16 bits already"
    wide = next((big for big in answer.largest if big.category in _MADE and big.dtype == "float32"), None)
    if name == "bf16" and wide is not None and wide.op in _WIDE:
        return f"`{wide.op.strip('_')}` is computed in float32 all the same, and its inputs are kept in both types"
    if name == "checkpointing" and largest == "activations":
        return "no repeated blocks were found"
    return f"the peak is made of {largest}"


def _is_narrow(plan: MemoryPlan) -> bool:
    made = [big for big in plan.largest if big.category in _MADE and "float" in big.dtype]
    return 2 * sum(big.bytes for big in made if big.dtype.endswith("float16")) > sum(big.bytes for big in made) > 0


def _smaller_batches(command: Sequence[str], request: Request, plan: MemoryPlan, axis: Axis | None) -> Iterator[Tried]:
    if axis is None or axis.current < 2:
        return
    half = axis.current // 2
    answer = axis.ask(command, request, half)
    if answer is not None and answer.lost is None and answer.steps:
        title = f"accumulate gradients over two batches of {half} ({axis.name} {axis.current} now)"
        yield _tried("accumulation", title, plan, answer)


def _parts_of_the_graph(command: Sequence[str], request: Request, plan: MemoryPlan) -> Iterator[Tried]:
    """A graph that is trained on as a whole can be trained on in parts."""
    names = {dimension.name for dimension in plan.dimensions}
    if "nodes" not in names:
        return
    answer = predict(command, replace(request, remedy="node-batches"))
    if answer is not None and answer.lost is None and answer.steps:
        title = "train on an eighth of the nodes at a time"
        if "edges" in names:
            title = "train on samples of an eighth of the graph: ten neighbours for two hops (`NeighborLoader`)"
        yield _tried("node-batches", title, plan, answer)


def _smaller_data(command: Sequence[str], request: Request, plan: MemoryPlan) -> Iterator[Tried]:
    """Half of every size that a flag sets, other than the batch."""
    for axis in size_axes(command, plan):
        if axis.flag and "batch" not in axis.name:
            half = axis.current // 2
            answer = axis.ask(command, request, half)
            if answer is not None and answer.lost is None and answer.steps:
                yield _tried(
                    "smaller-data", f"halve `{axis.flag}` to {half}: other data, another training", plan, answer
                )


def _bytes_for_state(plan: MemoryPlan) -> Iterator[Tried]:
    """8-bit optimizers keep a byte where others keep four; this one is calculated."""
    saved = int(plan.by_category.get(_STATE, 0) * _SAVED_BY_BYTES)
    note = "calculated, not run" if saved > _WORTH * plan.peak_allocated else "gains nothing: there is little state"
    title = "keep the optimizer's state in 8 bits (bitsandbytes)"
    yield Tried("8-bit", title, plan.peak_allocated - saved, plan.peak_reserved - saved, saved, note)
