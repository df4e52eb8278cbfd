"""The nouns every observation is made of, and the Run that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import ClassVar, TypeVar

from torchmedic.facts.fact import fact

ObservationT = TypeVar("ObservationT", bound="Observation")


@fact
class Location:
    """A line of source, as the reader will look it up: path relative to the working directory."""

    file: str
    line: int
    function: str = ""
    source: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@fact
class TensorSummary:
    """What can be said of a tensor without keeping it: the form always, the values where they were looked at."""

    shape: tuple[int, ...]
    dtype: str
    device: str = "cpu"
    requires_grad: bool = False
    is_leaf: bool = True
    is_parameter: bool = False
    grad_fn: str = ""
    minimum: float | None = None
    maximum: float | None = None
    nan: int | None = None
    inf: int | None = None
    zeros: int | None = None

    @property
    def numel(self) -> int:
        total = 1
        for size in self.shape:
            total *= size
        return total

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


@fact
class Value:
    """A variable as it stood in a frame: a type and a short text, a tensor's form, a container's first items."""

    name: str
    type: str
    text: str = ""
    tensor: TensorSummary | None = None
    length: int | None = None
    items: tuple[Value, ...] = ()


@fact
class ModuleFact:
    """An `nn.Module`: its class, its path below the outermost module, and what its constructor was told."""

    type: str
    path: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    children: tuple[str, ...] = ()
    parameters: dict[str, TensorSummary] = field(default_factory=dict)
    methods: dict[str, Location] = field(default_factory=dict)
    defined: Location | None = None


class Observation:
    """Base of everything that probes write down; `kind` is its name in the run file."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Observation]]] = {}
    step: int | None

    def __init_subclass__(cls) -> None:
        kind = cls.__dict__.get("kind")
        if kind is None:
            raise TypeError(f"{cls.__name__} needs a class attribute `kind`")
        if kind in Observation.kinds and Observation.kinds[kind].__qualname__ != cls.__qualname__:
            raise TypeError(f"observation kind {kind!r} is taken")
        Observation.kinds[kind] = cls


@fact
class Skipped:
    """The steps that `--on-sick skip` left out, the first of them by number, and samples of theirs with bad values."""

    count: int = 0
    steps: tuple[int, ...] = ()
    last: int = 0
    samples: tuple[int, ...] = ()


@fact
class RunInfo:
    """The frame of a run: what was started, where, and how it ended."""

    argv: tuple[str, ...] = ()
    cwd: str = ""
    python: str = ""
    torch: str = ""
    device: str = "cpu"
    started: float = 0.0
    seconds: float = 0.0
    steps: int = 0
    exit_code: int | None = None
    signal: int | None = None
    stopped_by_us: bool = False
    stopped_in: int = 0  # the step that was sick then, counted from 1
    skipped: Skipped = Skipped()
    folder: str = ""
    rank: int = 0
    world: int = 1
    ended: float = 0.0
    pid: int = 0
    host: str = ""
    interrupted: bool = False  # one of its ranks was

    @property
    def sick_step(self) -> int:
        """The step that we stopped it in."""
        return self.stopped_in or self.steps + 1

    @property
    def was_interrupted(self) -> bool:
        """Whether a Ctrl-C or a polite kill ended it, as a shell says that, or as its ranks do."""
        return self.interrupted or self.exit_code in (130, 143)


@fact
class Run:
    """Everything seen of one run. Rules read this and nothing else.

    A run of several processes has one Run per rank in `ranks`; its own observations are those of all of them.
    """

    info: RunInfo = RunInfo()
    observations: tuple[Observation, ...] = ()
    ranks: tuple[Run, ...] = ()

    def all(self, kind: type[ObservationT]) -> Iterator[ObservationT]:
        """Every observation of one kind, in the order they were made."""
        return (seen for seen in self.observations if isinstance(seen, kind))

    def first(self, kind: type[ObservationT]) -> ObservationT | None:
        return next(self.all(kind), None)

    def last(self, kind: type[ObservationT]) -> ObservationT | None:
        return next(iter(reversed(list(self.all(kind)))), None)
