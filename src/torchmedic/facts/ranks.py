"""What was seen of processes that work together, and of processes that stand still."""

from __future__ import annotations

from dataclasses import field, replace
from typing import ClassVar

from torchmedic.facts.core import Location, Observation, Run
from torchmedic.facts.fact import fact

# Waits that are nobody's fault as such: the process lets another one, a clock or a person go first.
PATIENT = frozenset({"process", "sleep", "reader"})
SLOW = frozenset({"process", "sleep", "network", "lock-file"})


@fact
class ThreadStand:
    """One thread at one moment: its stack, innermost first."""

    name: str
    stack: tuple[Location, ...] = ()
    is_main: bool = False


@fact
class WorkerStand:
    """A process that the standing one has started: a DataLoader worker, or another child.

    `state` is the system's letter for it (R runs, S sleeps, D waits for a device, Z has ended); `busy` is the share
    of a core it used over the last second. `stack` is what its main thread does, innermost first.
    """

    pid: int
    state: str = ""
    busy: float | None = None
    stack: tuple[Location, ...] = ()


@fact
class Nest:
    """One line of the user's in a stack, and what it lies in: lines from the first to the last of a body.

    `loops` are around it, outermost first, `heads` the lines that begin them; `branches` are those of an `if`, which
    stands on the line in `ifs`.
    """

    at: Location
    loops: tuple[tuple[int, int], ...] = ()
    heads: tuple[Location, ...] = ()
    branches: tuple[tuple[int, int], ...] = ()
    ifs: tuple[Location, ...] = ()


@fact
class Standing(Observation):
    """Where a process stands, because it has not moved for long or because another one asked.

    `waits_for` is what its main thread waits for: "collective", "gradients", "loader", "file-lock", "lock-file"
    (one that is polled for), "lock", "process", "pipe" (a process that waits for room in one), "reader" (of a
    queue, before it ends), "sleep", "network", "device" or "" where that cannot be told; `call` is the function it
    waits in. `still` is for how many seconds nothing moved. `holder` is the process that holds the lock on `file`,
    or waits for room in the pipe; `taken_by` is the thread that took the lock the main one waits for, or that takes
    the one a forked worker waits for, `taken_at` its line. `ways_out` are lines on which the loops around its line
    can be left early. `busy` is for how many seconds it has been at work in one function without an operation of
    torch or a step, `too_busy` how long that may last.
    """

    kind: ClassVar[str] = "standing"
    rank: int | None = None
    pid: int = 0
    at: float = 0.0
    still: float = 0.0
    patience: float = 0.0
    usual: float | None = None
    waits_for: str = ""
    call: str = ""
    where: Location | None = None
    threads: tuple[ThreadStand, ...] = ()
    workers: tuple[WorkerStand, ...] = ()
    loader_built: Location | None = None
    file: str = ""
    holder: int | None = None
    holder_name: str = ""
    taken_by: str = ""
    taken_at: Location | None = None
    ways_out: tuple[Location, ...] = ()
    busy: float = 0.0
    too_busy: float = 0.0
    step: int | None = None


@fact
class ThreadDied(Observation):
    """A thread that an exception ended; the process went on without it."""

    kind: ClassVar[str] = "thread-died"
    name: str
    type_name: str
    message: str = ""
    where: Location | None = None
    step: int | None = None


@fact
class LastSeen(Observation):
    """The line on which a process was, a second before its end at most, that did not come to say how it ended."""

    kind: ClassVar[str] = "last-seen"
    where: Location
    step: int | None = None


@fact
class MovedOn(Observation):
    """A process that stood still moves again."""

    kind: ClassVar[str] = "moved-on"
    seconds: float
    step: int | None = None


@fact
class CollectiveCall:
    """One call that every rank has to make: the `number`-th of its process, with the form of its tensor.

    `op` is "gradients" for the all-reduce that `DistributedDataParallel` makes in backward, "buffers" for the broadcast
    in its forward. `batches` is how many the process had received for training, in so many `passes` over a loader.
    `nests` are the user's lines that led to the call, outermost first.
    """

    number: int
    op: str
    form: str = ""
    where: Location | None = None
    step: int = 0
    at: float = 0.0
    done: bool = True
    batches: int = 0
    passes: int = 0
    nests: tuple[Nest, ...] = ()


@fact
class CollectiveCalls(Observation):
    """The last collectives of a process, oldest first, as it wrote them down before each call."""

    kind: ClassVar[str] = "collective-calls"
    calls: tuple[CollectiveCall, ...] = ()
    step: int | None = None


@fact
class RankSeen(Observation):
    """A process joined a process group."""

    kind: ClassVar[str] = "rank-seen"
    rank: int
    world: int
    local_world: int | None = None
    backend: str = ""
    pid: int = 0
    host: str = ""
    where: Location | None = None
    step: int | None = None


@fact
class Joining(Observation):
    """A process is about to meet the others of its group, `world` of them with itself."""

    kind: ClassVar[str] = "joining"
    rank: int
    world: int
    where: Location | None = None
    step: int | None = None


@fact
class SickElsewhere(Observation):
    """A sick step that is not this rank's: its update was withheld as on all ranks, its own numbers are finite.

    With a `loss`: that was not finite here, but the gradients of all ranks were, so nothing was withheld.
    """

    kind: ClassVar[str] = "sick-elsewhere"
    step: int | None
    loss: float | None = None
    where: Location | None = None


@fact
class PeerLost(Observation):
    """An exception that only says that another rank is gone, or did not come within so many seconds (`limit`)."""

    kind: ClassVar[str] = "peer-lost"
    message: str
    where: Location | None = None
    timed_out: bool = False
    limit: float | None = None
    step: int | None = None


@fact
class RankEnded(Observation):
    """How a rank ended, told by the process that had started it: an exit status, or the signal it died of."""

    kind: ClassVar[str] = "rank-ended"
    rank: int
    status: int | None = None
    signal: str = ""
    at: float = 0.0
    last_seen: Location | None = None
    last_alive: float | None = None
    step: int | None = None


@fact
class AbruptExit(Observation):
    """A line of the user's that left the process with a status, or tried to: `os._exit`, `sys.exit`."""

    kind: ClassVar[str] = "abrupt-exit"
    status: int
    where: Location | None = None
    step: int | None = None


@fact
class AwaitedBy(Observation):
    """Other ranks stand in a collective that this one has not come to; found when files of ranks are merged."""

    kind: ClassVar[str] = "awaited-by"
    ranks: tuple[int, ...] = ()
    step: int | None = None


@fact
class Interrupted(Observation):
    """The process was ended by a Ctrl-C, on this line."""

    kind: ClassVar[str] = "interrupted"
    at: float = 0.0
    where: Location | None = None
    step: int | None = None


@fact
class RankStep(Observation):
    """What one rank did in one of the steps that are compared between ranks.

    `norms` are those of parameters after the update, `batch` a fingerprint of what was given to the wrapped model,
    `wrapped` how often that was called with gradients on, `bypassed` where its inner module was called instead.
    `exchanges` counts the backward passes that exchanged gradients, of all `backwards`; `alone` those after the last
    exchange, and `alone_at` is where they were told not to exchange. `buffers` are there where the wrapper does not
    spread them: their norms, and for BatchNorm the statistics of some channels.
    """

    kind: ClassVar[str] = "rank-step"
    step: int | None
    norms: dict[str, float] = field(default_factory=dict)
    batch: str = ""
    batch_size: int | None = None
    wrapped: int = 0
    called_at: Location | None = None
    bypassed: Location | None = None
    bypassed_by: str = ""
    backwards: int = 0
    exchanges: int = 0
    alone: int = 0
    alone_at: Location | None = None
    backward_at: Location | None = None
    seed: int = 0
    stepped_at: Location | None = None
    rate: float | None = None
    buffers: dict[str, float] = field(default_factory=dict)
    statistics: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = field(default_factory=dict)


@fact
class WrapperPassed(Observation):
    """One of several wrappers that nothing went through in the first steps, though its weights had gradients.

    `where` calls its inner module or a part of it, `steps` counts the updates that had gradients for it, `others` the
    wrappers that were called. `norms` are those of its parameters after these updates.
    """

    kind: ClassVar[str] = "wrapper-passed"
    step: int | None
    model: str
    where: Location | None
    steps: int
    others: int
    norms: dict[str, float] = field(default_factory=dict)


@fact
class WrapperSeen(Observation):
    """A `DistributedDataParallel` module: its parameters in order, and its normalising layers that see one rank only.

    `norms` are BatchNorm layers by path with the number of values per channel that one rank gives them, `samples`
    is the smallest number of samples they were given. `strangers` are parameters that came into the model after it had
    been wrapped, with the lines that built their layers.
    """

    kind: ClassVar[str] = "wrapper-seen"
    names: tuple[str, ...] = ()
    built: Location | None = None
    finds_unused: bool = False
    norms: dict[str, int] = field(default_factory=dict)
    norm_built: Location | None = None
    samples: int | None = None
    broadcasts_buffers: bool = True
    strangers: dict[str, Location | None] = field(default_factory=dict)
    step: int | None = None


@fact
class RandomDraws(Observation):
    """Random numbers that lines of the user's own drew in one step from the generators all code shares.

    Keys name what was drawn for and from where ("input torch", "model torch", "data numpy"); `states` are fingerprints
    of the generator just before, `places` the lines, `seeded` the line that set the seed.
    """

    kind: ClassVar[str] = "random-draws"
    step: int | None
    states: dict[str, str] = field(default_factory=dict)
    places: dict[str, Location] = field(default_factory=dict)
    seeded: dict[str, Location] = field(default_factory=dict)


@fact
class SplitSeen(Observation):
    """A data set that one line cut into parts: for each of its first rows the part it is in, -1 where unknown."""

    kind: ClassVar[str] = "split-seen"
    where: Location
    rows: int
    sizes: tuple[int, ...]
    parts: tuple[int, ...]
    step: int | None = None


@fact
class RankDevice(Observation):
    """The card a rank computes on: its number, its identity, how many the process can see, and who chose it where."""

    kind: ClassVar[str] = "rank-device"
    device: str = ""
    identity: str = ""
    visible: int = 0
    host: str = ""
    chosen_at: Location | None = None
    step: int | None = None


@fact
class FileSaved(Observation):
    """A file that a rank wrote with `torch.save`."""

    kind: ClassVar[str] = "file-saved"
    path: str
    where: Location | None = None
    step: int | None = None


def starter_of(run: Run) -> Run:
    """The process that started the ranks of a run, with what it saw itself."""
    of_ranks = {id(seen) for rank in run.ranks for seen in rank.observations}
    own = tuple(seen for seen in run.observations if id(seen) not in of_ranks)
    return Run(info=replace(run.info, world=1), observations=own)


def standing_of(run: Run) -> Standing | None:
    """Where a process stands now: its last answer, unless it has moved since."""
    last = None
    for seen in run.observations:
        if isinstance(seen, Standing):
            last = seen
        elif isinstance(seen, MovedOn):
            last = None
    return last
