"""What memory grows with, found without being asked for a flag: the script's own size flags, and shapes of its data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from torchmedic.checkups.memory.asking import Request
from torchmedic.checkups.memory.growth import largest_scale
from torchmedic.cli._memory_axes import Axis, Sweep, batch_axis, grown_from
from torchmedic.facts import MemoryPlan
from torchmedic.facts.memory_plan import GrowthTerm
from torchmedic.render.memory import size_text

_MOST_AXES = 4
# Flags by the dimension that they stand for, the most telling first.
_KINDS = (
    re.compile(r"batch|(^|[-_])bs$"),
    re.compile(r"seq|(^|[-_])len|length|tokens|context|frames|window"),
    re.compile(r"nodes?$|(^|[-_])nodes|vert"),
    re.compile(r"edges?$|(^|[-_])edges|neighbou?rs|fanout|degree"),
    re.compile(r"points|image|resolution|queries|(^|[-_])size$"),
)
_NO_SIZE = re.compile(r"seed|epoch|steps?$|iter|worker|patience|log|every|warm|save|port|gpus|devices|vocab|hidden")


def size_axes(command: Sequence[str], plan: MemoryPlan) -> list[Axis]:
    """The flags that say how large the data are, one of each kind first, and the loader's batch without such a flag."""
    ranked = []
    for flag, value in plan.flags.items():
        name = flag.lstrip("-").lower()
        kind = next((n for n, pattern in enumerate(_KINDS) if pattern.search(name)), None)
        if kind is not None and value > 1 and not _NO_SIZE.search(name):
            ranked.append((kind, Axis(flag.lstrip("-"), flag, value)))
    ranked.sort(key=lambda pair: pair[0])
    axes = [axis for _, axis in ranked]
    batch = batch_axis(command, plan)
    if batch is not None and not any(kind == 0 for kind, _ in ranked):
        axes.insert(0, batch)
    return axes[:_MOST_AXES]


def sweep_all(command: Sequence[str], request: Request, plan: MemoryPlan) -> Iterator[Sweep]:
    """The growth along every size that can be changed from outside."""
    for axis in size_axes(command, plan):
        found = grown_from(plan, axis, command, request)
        if found is not None:
            yield found


def dimension_lines(plan: MemoryPlan, room: int | None) -> Iterator[str]:
    """The law that the shapes at the peak tell, and what it means."""
    if not plan.dimensions:
        return
    sizes = ", ".join(f"{d.size} {d.name}" for d in plan.dimensions)
    yield f"growth with the data, read off the shapes held at the peak: {sizes}"
    yield f"  {dimension_law(plan)}"
    for term in [t for t in plan.terms if t.dimensions][:_MOST_AXES]:
        yield f"  {size_text(term.bytes):>11} {term.bytes / max(plan.peak_allocated, 1):6.1%}  {_power(term)}"
    yield from _selected_lines(plan)
    if room is not None and any(d.name == "nodes" for d in plan.dimensions):
        scale = largest_scale([(len(t.dimensions), t.bytes) for t in plan.terms], room)
        nodes = next(d.size for d in plan.dimensions if d.name == "nodes")
        yield f"  largest graph of this kind that fits: {int(scale * nodes)} nodes ({nodes} now), edges in proportion"


def _selected_lines(plan: MemoryPlan) -> Iterator[str]:
    """Loss on a few nodes is no help: what is held has a row for every node."""
    few = next((d for d in plan.dimensions if d.name == "selected nodes"), None)
    if few is None:
        return
    share = sum(t.bytes for t in plan.terms if few.name in t.dimensions) / max(plan.peak_allocated, 1)
    nodes = next(d.size for d in plan.dimensions if d.name == "nodes")
    if share < 0.05:
        yield (
            f"  a mask selects {few.size} of {nodes} nodes, and tensors of {few.size} rows hold {share:.1%}: "
            "memory follows all nodes, not the selected ones"
        )


def dimension_law(plan: MemoryPlan) -> str:
    """Constant and coefficients, the largest share first: `13 MiB + 12.1 bytes x nodes^2`."""
    size = {d.name: d.size for d in plan.dimensions}
    parts = []
    constant = sum(t.bytes for t in plan.terms if not t.dimensions)
    for term in plan.terms:
        if term.dimensions and term.bytes >= 0.002 * plan.peak_allocated:
            whole = 1
            for name in term.dimensions:
                whole *= size[name]
            parts.append(f"{size_text(term.bytes / whole, digits=3)} x {_power(term)}")
    return " + ".join([size_text(constant), *parts])


def _power(term: GrowthTerm) -> str:
    counts = Counter(term.dimensions)
    return " x ".join(name if times == 1 else f"{name}^{times}" for name, times in counts.items())


def dimensions_json(plan: MemoryPlan) -> dict[str, Any] | None:
    """The same for the JSON contract."""
    if not plan.dimensions:
        return None
    return {
        "sizes": {d.name: d.size for d in plan.dimensions},
        "law": dimension_law(plan),
        "terms": [{"dimensions": list(t.dimensions), "bytes": t.bytes} for t in plan.terms],
    }
