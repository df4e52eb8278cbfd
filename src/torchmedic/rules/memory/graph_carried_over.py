"""A value that goes on from its own past: its graph grows by every step."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import KeptGraph, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.memory._carrying import carried_over, collections_of
from torchmedic.rules.memory._sizes import bytes_text

_LITTLE_FOR_EACH = 8  # bytes for each pass


class GraphCarriedOver(Rule):
    """A variable or attribute is updated from itself without detaching, over many steps."""

    code = "MEM002"
    name = "graph-carried-over"
    symptoms = (Symptom.MEMORY_GROWS, Symptom.SLOW_STEP, Symptom.DEATH)
    tell_apart = "one tensor's graph reaches back over many steps"
    needs = (KeptGraph,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for kept in carried_over(run):
            span = kept.last - kept.first
            yield self.diagnose(
                headline=f"the graph of `{kept.path}` reaches back over {span} backward passes and grows",
                confidence="proven",
                severity="warning" if _pins_little(kept) else "error",
                step=kept.step,
                where=kept.where,
                label=f"`{kept.path}` goes on from its old value, graph and all",
                culprit=Culprit(tensor=kept.path, phase="forward"),
                evidence=(*_evidence(kept), *_collected(kept, run)),
                remedies=tuple(_remedies(kept)),
            )


def _pins_little(kept: KeptGraph) -> bool:
    """Whether it is the nodes that cost memory, not what they saved: sums and means save a number or two."""
    return kept.freed or kept.bytes_each < _LITTLE_FOR_EACH * max(1, kept.last - kept.first)


def _evidence(kept: KeptGraph) -> Iterator[str]:
    nodes = f"{kept.nodes} or more" if kept.nodes >= 5_000 else str(kept.nodes)
    yield f"{nodes} graph nodes hang on `{kept.path}`, made from backward pass {kept.first} to {kept.last} of the run"
    if kept.freed:
        yield "backward() has freed what most of them saved: main memory grows by the nodes, device memory hardly"
    elif _pins_little(kept):
        yield "what they have saved is small: main memory grows by the nodes, device memory hardly"
    else:
        yield f"they pin at least {bytes_text(kept.bytes_each)} of saved activations, which no backward() will free"
    if kept.resident_growth > 50_000_000:
        yield f"the process grew by {bytes_text(kept.resident_growth)} meanwhile"


def _collected(kept: KeptGraph, run: Run) -> Iterator[str]:
    for pile in collections_of(kept, run):
        yield f"`{pile.path}` holds {pile.count} such values: to detach only what goes in there does not end the growth"


def _remedies(kept: KeptGraph) -> Iterator[Remedy]:
    scalar = "total" in kept.path or "loss" in kept.path or "running" in kept.path
    if scalar:
        yield Remedy(title="add the number only: `.item()` of the new term")
    yield Remedy(title=f"cut the past off: `.detach()` what goes into `{kept.path}`")
    if not kept.freed:
        yield Remedy(title="or compute it under `with torch.no_grad():`")
