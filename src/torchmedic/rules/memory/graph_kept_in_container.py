"""Losses or outputs collected as tensors: each keeps its whole graph alive."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import KeptGraph, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver
from torchmedic.rules.memory._carrying import carried_over, collections_of
from torchmedic.rules.memory._sizes import bytes_text, short

_MUCH = 16 << 20  # bytes of the tensors themselves


class GraphKeptInContainer(Rule):
    """A list, dict or deque of the script holds tensors of many steps with their autograd graphs."""

    code = "MEM001"
    name = "graph-kept-in-container"
    symptoms = (Symptom.MEMORY_GROWS, Symptom.DEATH)
    tell_apart = "tensors made many steps ago are alive in a container of the script and have a `grad_fn`"
    needs = (KeptGraph,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        told = [pile for carried in carried_over(run) for pile in collections_of(carried, run)]
        kept_ones = [k for k in run.all(KeptGraph) if not k.is_chain and k not in told]
        found = [k for k in kept_ones if not (k.freed and not _is_for_good(k))]
        # A function that was running at the look may have had another name for the same tensors, and no line fills it.
        for kept in [each for each in found if each.where is not None] or found:
            name = short(kept.value)
            pinned = _pinned(kept)
            yield self.diagnose(
                headline=f"`{kept.path}` kept {kept.count} tensors with their graphs by step {kept.step}, {pinned}"
                if _goes_on(kept, run)
                else f"`{kept.path}` keeps {kept.count} tensors with their graphs, {pinned}",
                confidence="proven",
                severity="warning" if kept.freed and kept.own_bytes < _MUCH else "error",
                step=kept.step,
                where=kept.where,
                label=f"`{name}` is kept with its graph" if name else "kept with its graph",
                also=(Also(location=kept.stored, why=f"stored in `{kept.path}` here"),) if kept.stored else (),
                culprit=Culprit(tensor=kept.path, phase="forward"),
                evidence=(*_evidence(kept), *_later(kept, run)),
                remedies=tuple(_remedies(kept, name)),
            )


def _pinned(kept: KeptGraph) -> str:
    if not kept.freed:
        return f"{bytes_text(kept.bytes_each)} of activations each"
    return f"{bytes_text(kept.own_bytes)} in all" if kept.own_bytes >= _MUCH else "little memory each"


def _goes_on(kept: KeptGraph, run: Run) -> bool:
    """Whether much of the run came after the last count."""
    return kept.step is not None and run.info.steps > 1.2 * kept.step


def _later(kept: KeptGraph, run: Run) -> Iterator[str]:
    if _goes_on(kept, run):
        yield f"counted at step {kept.step} of {run.info.steps}: the {kept.container} may hold more at the end"


def _is_for_good(kept: KeptGraph) -> bool:
    """Losses that are collected for the mean of an epoch, and let go of then, cost next to nothing."""
    return kept.at_end or kept.passes >= 3 or kept.never_emptied


def _evidence(kept: KeptGraph) -> Iterator[str]:
    yield (
        f"the {kept.container} `{kept.path}` holds {kept.count} tensors that have a `grad_fn`, made from backward pass "
        f"{kept.first} to {kept.last} of the run"
        if not kept.key
        else f"dicts in `{kept.path}` hold {kept.count} tensors that have a `grad_fn`, made from backward pass "
        f"{kept.first} to {kept.last} of the run, under the key `{kept.key}`"
    )
    if kept.freed:
        yield f"backward() has freed what their graphs had saved; {kept.nodes} nodes behind each stay in main memory"
        if kept.own_bytes >= _MUCH:
            yield f"the tensors themselves take {bytes_text(kept.own_bytes)}, and nothing lets go of them"
    else:
        pinned = bytes_text(kept.bytes_each)
        yield f"backward() never ran on them, or retained the graph: each pins the {pinned} that it saved for it"
    if kept.resident_growth > 50_000_000:
        yield f"the process grew by {bytes_text(kept.resident_growth)} meanwhile"


def _remedies(kept: KeptGraph, name: str) -> Iterator[Remedy]:
    if kept.freed and kept.own_bytes >= _MUCH:
        yield Remedy(title=f"empty `{kept.path}` when its tensors have been used, or keep those of the last pass only")
        return
    if kept.key:
        yield Remedy(
            title=f"detach what goes in under `{kept.key}`: `{receiver(name or '…')}.detach()`, `.item()` for a number"
        )
    else:
        yield _values_only(kept, receiver(name or "…"))
    if not kept.freed:
        yield Remedy(title="run evaluation under `with torch.no_grad():`", detail="then no graph is made")


def _values_only(kept: KeptGraph, kept_as: str) -> Remedy:
    if kept.most_elements > 1:
        return Remedy(title=f"keep the values only: `{kept_as}.detach()`")
    return Remedy(title=f"keep the number only: `{kept_as}.item()` (or `.detach()` for a tensor)")
