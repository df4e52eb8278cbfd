"""What we say: the slots of a diagnosis and the contract of a rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Literal

from torchmedic.facts import Location, Observation, Run, RunInfo

Severity = Literal["error", "warning", "hint"]
Confidence = Literal["proven", "likely", "possible"]
Outcome = Literal["healthy", "sick", "crashed"]

FAMILIES = {
    "NUM": "numerics",
    "WIR": "wiring",
    "LOS": "loss",
    "DAT": "data",
    "MEM": "memory",
    "ERR": "errors",
    "ENV": "environment",
    "TRN": "training",
    "RNK": "ranks",
}


class Symptom(Enum):
    """What a user sees. Symptoms and causes are many-to-many: a rule lists all that it explains."""

    CRASH = "the script stops with an exception"
    DEATH = "the process disappears or is killed"
    IMPORT_FAILS = "an import fails"
    SLOW_START = "the start is slow"
    SLOW_STEP = "training is slow"
    STUCK = "training hangs"
    LOSS_NAN = "the loss is NaN or infinite"
    LOSS_ZERO = "the loss is 0"
    LOSS_NEGATIVE = "the loss is negative"
    LOSS_FLAT = "the loss does not fall"
    LOSS_NOISY = "the loss jumps or diverges"
    LOSS_EQUALS_TEST = "the test loss equals the train loss"
    SCORE_LOW = "the score is worse than it should be"
    SCORE_TOO_GOOD = "the test score is too good to be true"
    WEIGHTS_STILL = "weights do not move"
    WEIGHTS_NAN = "weights are NaN or infinite"
    CHECKPOINT_DIFFERS = "after loading a checkpoint the results differ"
    MEMORY_GROWS = "memory grows or runs out"
    NO_GPU = "the GPU is not used"
    NOT_REPRODUCIBLE = "results differ from run to run"


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A cure: an imperative title, details, and whether the failing step was run with it."""

    title: str
    detail: str = ""
    diff: str | None = None
    verified: bool = False


@dataclass(frozen=True, kw_only=True)
class RuledOut:
    """A suspect that was shown to be innocent, and how."""

    suspect: str
    how: str


@dataclass(frozen=True, kw_only=True)
class Also:
    """A second place worth looking at, and why."""

    location: Location
    why: str


@dataclass(frozen=True, kw_only=True)
class Culprit:
    """The guilty thing, in parts that a program can read."""

    op: str | None = None
    phase: str | None = None
    tensor: str | None = None
    field: str | None = None
    sample: int | None = None
    index: tuple[int, ...] | None = None
    parameter: str | None = None
    module: str | None = None
    group: dict[str, Any] | None = None
    rows: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """One cause, said once. `label` stands under the marked part (`mark`) of the line in the code window.

    `ranks` are those it was seen on, in a run of several processes.
    """

    code: str
    name: str
    family: str
    severity: Severity
    confidence: Confidence
    headline: str
    step: int | None = None
    where: Location | None = None
    mark: str = ""
    label: str = ""
    also: tuple[Also, ...] = ()
    culprit: Culprit = Culprit()
    evidence: tuple[str, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer about a run: diagnoses with the one to act on first."""

    outcome: Outcome
    info: RunInfo
    diagnoses: tuple[Diagnosis, ...] = ()
    unexplained: tuple[str, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


class Rule:
    """A cause we know. Subclasses set the class attributes and yield diagnoses from `check`.

    `needs` are the kinds of observation without which `check` is not called. `folds` names rules (or whole
    families, by prefix) whose diagnoses are consequences of this one: triage turns them into notes. A `fallback`
    is heard only when no other rule explains the crash. A rule `across_ranks` is asked once about a run of several
    processes, the others once about each. What a rule that `tells_each` says twice of one place is about two things.
    One that `gives_way` tells of a thing that nearly every cause brings about: it is heard where no cause was found.
    One that `is_cause` follows from nothing but the rules that fold it by its name: a family's fold leaves it alone.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = "error"
    symptoms: ClassVar[tuple[Symptom, ...]]
    tell_apart: ClassVar[str]
    needs: ClassVar[tuple[type[Observation], ...]]
    folds: ClassVar[tuple[str, ...]] = ()
    fallback: ClassVar[bool] = False
    across_ranks: ClassVar[bool] = False
    tells_each: ClassVar[bool] = False
    gives_way: ClassVar[bool] = False
    is_cause: ClassVar[bool] = False
    status: ClassVar[Literal["preview", "stable"]] = "preview"

    def check(self, run: Run) -> Iterator[Diagnosis]:
        """Diagnoses that follow from the run; nothing when the rule does not apply."""
        raise NotImplementedError(f"{type(self).__name__} has no check")

    def folds_in(self, run: Run) -> tuple[str, ...]:
        """What this rule folds in this run, where that depends on what was seen."""
        return self.folds

    @property
    def family(self) -> str:
        return FAMILIES[self.code[:3]]

    def diagnose(self, *, headline: str, confidence: Confidence, **slots: Any) -> Diagnosis:
        """A Diagnosis with this rule's code, name and family filled in."""
        slots.setdefault("severity", self.severity)
        return Diagnosis(
            code=self.code,
            name=self.name,
            family=self.family,
            headline=headline,
            confidence=confidence,
            **slots,
        )
