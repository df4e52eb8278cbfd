"""Remedies, each estimated anew on the script at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from torchmedic.checkups.memory.asking import Request
from torchmedic.cli._memory_auto import size_axes
from torchmedic.cli._memory_axes import Axis
from torchmedic.cli._memory_reasons import why_not, why_unknown
from torchmedic.cli._memory_runs import predict, predict_each
from torchmedic.facts import MemoryPlan

if TYPE_CHECKING:
    from torchmedic.checkups.data.options import Progress

_WORTH = 0.005
_STATE = "optimizer state"
_SAVED_BY_BYTES = 0.75
_FURTHER = 3


@dataclass(frozen=True)
class Tried:
    """A remedy with the peaks that it leads to (0: nobody knows), and what there is to say about it."""

    name: str
    title: str
    allocated: int
    reserved: int
    gain: int
    note: str = ""

    @property
    def is_known(self) -> bool:
        return self.allocated > 0


_REMEDIES = (
    ("bf16", 'compute in bfloat16: `torch.autocast("cuda", dtype=torch.bfloat16)`'),
    ("checkpointing", "compute blocks again in the backward pass: `torch.utils.checkpoint`"),
    ("sdpa", 'use `scaled_dot_product_attention` (`attn_implementation="sdpa"`)'),
    ("fused", "use a fused optimizer: `fused=True`"),
    ("foreach-off", "update parameters one by one: `foreach=False`"),
    ("set-to-none", "let gradients go between steps: `zero_grad(set_to_none=True)`"),
)
_EXPANDABLE = "expandable-segments"
_IN_ONE_PIECE = "keep memory in one piece: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`"


def try_remedies(
    command: Sequence[str], request: Request, plan: MemoryPlan, axis: Axis | None, progress: Progress
) -> Iterator[Tried]:
    """Every remedy, tried; those that change nothing are said to."""
    requests = [replace(request, remedy=name) for name, _ in _REMEDIES]
    asked = [(command, each) for each in (*requests, replace(request, expandable=True))]
    names = [*(name for name, _ in _REMEDIES), _EXPANDABLE]
    progress.sources = len(asked) + _FURTHER

    def tell(numbers: Sequence[int]) -> None:
        progress.doing, progress.done = f"trying {' and '.join(names[n] for n in numbers)}", numbers[0]

    answers = predict_each(asked, tell)
    for (name, title), answer in zip(_REMEDIES, answers, strict=False):
        yield _tried(name, title, plan, answer)
    for number, (doing, further) in enumerate(
        (
            ("half the batch", _smaller_batches(command, request, plan, axis)),
            ("a part of the graph", _parts_of_the_graph(command, request, plan)),
            ("half the data", _smaller_data(command, request, plan)),
        )
    ):
        progress.doing, progress.done = f"trying {doing}", len(asked) + number
        yield from further
    yield from _bytes_for_state(plan)
    yield _tried(_EXPANDABLE, _IN_ONE_PIECE, plan, answers[-1])


def _tried(name: str, title: str, plan: MemoryPlan, answer: MemoryPlan | None) -> Tried:
    if answer is None or answer.lost is not None or not answer.steps:
        return Tried(name, title, 0, 0, 0, f"not known: {why_unknown(answer)}")
    allocated, reserved, note = answer.peak_allocated, answer.peak_reserved, ""
    is_exchanged = answer.remedied is not None and answer.remedied.changed > 0
    if answer.matrices is not None and (not is_exchanged or answer.matrices.allocated < allocated):
        place = f" of {answer.matrices.where}" if answer.matrices.where is not None else ""
        note = f"calculated without the matrices{place}, not run"
        allocated, reserved = answer.matrices.allocated, answer.matrices.reserved
    # Memory in one piece spares what is reserved beside the tensors, not the tensors.
    is_beside = name == _EXPANDABLE
    before, after = (plan.peak_reserved, reserved) if is_beside else (plan.peak_allocated, allocated)
    if before - after <= _WORTH * before:
        note = f"gains nothing: {why_not(name, plan, answer)}"
    return Tried(name, title, allocated, reserved, before - after, note)


def _smaller_batches(command: Sequence[str], request: Request, plan: MemoryPlan, axis: Axis | None) -> Iterator[Tried]:
    if axis is None or axis.current < 2:
        return
    half = axis.current // 2
    title = f"accumulate gradients over two batches of {half} ({axis.name} {axis.current} now)"
    yield _tried("accumulation", title, plan, axis.ask(command, request, half))


def _parts_of_the_graph(command: Sequence[str], request: Request, plan: MemoryPlan) -> Iterator[Tried]:
    """A graph that is trained on as a whole can be trained on in parts."""
    names = {dimension.name for dimension in plan.dimensions}
    if "nodes" not in names:
        return
    title = "train on an eighth of the nodes at a time"
    if "edges" in names:
        title = "train on samples of an eighth of the graph: ten neighbours for two hops (`NeighborLoader`)"
    yield _tried("node-batches", title, plan, predict(command, replace(request, remedy="node-batches")))


def _smaller_data(command: Sequence[str], request: Request, plan: MemoryPlan) -> Iterator[Tried]:
    """Half of every size that a flag sets, other than the batch; one that the script refuses is none."""
    for axis in size_axes(command, plan):
        if axis.flag and "batch" not in axis.name:
            half = axis.current // 2
            title = f"halve `{axis.flag}` to {half}: other data, another training"
            tried = _tried("smaller-data", title, plan, axis.ask(command, request, half))
            if tried.is_known:
                yield tried


def _bytes_for_state(plan: MemoryPlan) -> Iterator[Tried]:
    """8-bit optimizers keep a byte where others keep four; this one is calculated."""
    saved = int(plan.by_category.get(_STATE, 0) * _SAVED_BY_BYTES)
    note = "calculated, not run" if saved > _WORTH * plan.peak_allocated else "gains nothing: there is little state"
    title = "keep the optimizer's state in 8 bits (bitsandbytes)"
    yield Tried("8-bit", title, plan.peak_allocated - saved, plan.peak_reserved - saved, saved, note)
