"""What a training is predicted to need on a card, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from torchmedic.facts.core import Location, Observation
from torchmedic.facts.fact import fact


@fact
class LineShare:
    """Bytes held at the peak by tensors that one line made."""

    where: Location | None
    bytes: int


@fact
class ModuleShare:
    """Bytes held at the peak by tensors made inside one module, at any depth below it that is not listed itself."""

    module: str
    bytes: int


@fact
class BigTensor:
    """One tensor held at the peak."""

    bytes: int
    shape: tuple[int, ...]
    dtype: str
    category: str
    op: str
    module: str
    where: Location | None = None


@fact
class Assumption:
    """Something that only the true numbers on the card would tell, and what was taken for it."""

    what: str
    where: Location | None
    times: int


@fact
class LostTrack:
    """Where the script could not be followed any further; `everywhere` if it stops there on the CPU as well.

    `in_pretence` says that the error came out of an operation on tensors without numbers, `waited` that the script was
    given up while it waited for something.
    """

    error: str
    where: Location | None
    everywhere: bool = False
    in_pretence: bool = False
    waited: bool = False


@fact
class Unreached:
    """A part of the script that was not come to: a data `loader` that gave no batch, an `evaluation`."""

    what: str
    where: Location


@fact
class Hoarded:
    """Bytes that every `what` ("step", "evaluation batch") leaves behind, mostly of a line; `left` are to come."""

    what: str
    bytes: int
    where: Location | None = None
    left: int = 0


@fact
class MemoryMoment:
    """What was held at one moment of a step."""

    phase: str
    by_category: dict[str, int]


@dataclass(frozen=True)
class Dimension:
    """A size of the data: how many nodes, edges, samples or positions there are."""

    name: str
    size: int


@dataclass(frozen=True)
class GrowthTerm:
    """Bytes held at the peak by tensors whose shapes contain these dimensions, each as often as it is named."""

    dimensions: tuple[str, ...]
    bytes: int


@fact
class Matrices:
    """Matrices of attention that is written out, mostly at a line, and the peaks with a kernel that makes none."""

    where: Location | None
    bytes: int
    allocated: int
    reserved: int


@fact
class Remedied:
    """How many things a remedy has changed, and how many were so `already`."""

    changed: int
    already: int = 0


@fact
class MemoryPlan(Observation):
    """The memory of the first optimizer steps.

    `mode` says how it was found: "fake-cuda" (as if a card were there), "fake-cpu" (all tensors counted as if they
    were on one), or "real" (measured). `phase_peaks` are the most bytes of each phase, `step_peaks` those of each
    optimizer step, `by_block` what modules hold with all that is inside them, `course` what was held over the step
    with the peak. `loader_batch` is the batch size of the script's data loader (0 without one), `loader_samples` what
    it goes over (0 where not known), `flags` are the whole numbers among its options. `dimensions` and `terms` say by
    which sizes of the data the peak grows, as far as the shapes tell. `not_written` and `not_deleted` are the files
    that a plain run would have changed. `ended` says that the script left by itself before its first step, `left_at`
    where; `unreached` is what the peak may come in and nobody followed, `hoarded` what grows beyond the steps and
    batches that were. `names_card` says whether the script puts anything on a card, `remedied` what the remedy did that
    was asked for, `matrices` what one would spare that cannot be put into effect.
    """

    kind: ClassVar[str] = "memory-plan"
    step: int | None = None
    mode: str
    card: str
    steps: int
    peak_allocated: int
    peak_reserved: int
    peak_requested: int
    context: int
    phase: str
    peak_step: int
    where: Location | None = None
    module: str = ""
    by_category: dict[str, int] = field(default_factory=dict)
    by_module: tuple[ModuleShare, ...] = ()
    by_block: tuple[ModuleShare, ...] = ()
    by_line: tuple[LineShare, ...] = ()
    largest: tuple[BigTensor, ...] = ()
    phase_peaks: dict[str, int] = field(default_factory=dict)
    step_peaks: tuple[int, ...] = ()
    course: tuple[MemoryMoment, ...] = ()
    assumed: tuple[Assumption, ...] = ()
    lost: LostTrack | None = None
    loader_batch: int = 0
    loader_samples: int = 0
    flags: dict[str, int] = field(default_factory=dict)
    dimensions: tuple[Dimension, ...] = ()
    terms: tuple[GrowthTerm, ...] = ()
    not_written: tuple[str, ...] = ()
    not_deleted: tuple[str, ...] = ()
    ended: bool = False
    left_at: Location | None = None
    unreached: tuple[Unreached, ...] = ()
    hoarded: tuple[Hoarded, ...] = ()
    names_card: bool = True
    remedied: Remedied | None = None
    matrices: Matrices | None = None
    seconds: float = 0.0
    torch: str = ""


@fact
class MemoryAtCrash(Observation):
    """What the tensors on the card were when it ran out of memory, and how much was cached in pieces."""

    kind: ClassVar[str] = "memory-at-crash"
    step: int | None
    by_category: dict[str, int]
    largest: tuple[BigTensor, ...] = ()
    allocated: int = 0
    reserved: int = 0
