"""What was seen when the script died."""

from __future__ import annotations

from typing import ClassVar

from torchmedic.facts.core import Location, ModuleFact, Observation, Value
from torchmedic.facts.fact import fact


@fact
class Frame:
    """One level of the traceback with the variables that stood in it."""

    location: Location
    is_user: bool = False
    values: tuple[Value, ...] = ()
    module: ModuleFact | None = None

    def value(self, name: str) -> Value | None:
        return next((v for v in self.values if v.name == name), None)


@fact
class Crash(Observation):
    """An exception that ended the script, with live frames (oldest first).

    `source` says where it was read: "live" frames have values, a pasted "text" has none.
    `cause` is the exception behind it (`__cause__` or `__context__`, or the one a worker passed on); `handling` says
    that this one came up while that one was being handled, and `wraps` that a `raise` of the user's put it into other
    words: what else was seen at the crash is then of the one behind it.
    """

    kind: ClassVar[str] = "crash"
    exception: str
    message: str
    frames: tuple[Frame, ...] = ()
    cause: Crash | None = None
    handling: bool = False
    wraps: bool = False
    notes: tuple[str, ...] = ()
    source: str = "live"
    step: int | None = None
    near_names: tuple[str, ...] = ()
    syntax: Location | None = None
    syntax_column: int | None = None

    @property
    def type_name(self) -> str:
        """The exception's class without its module."""
        return self.exception.rpartition(".")[2]

    @property
    def called(self) -> str:
        """The class as it is told: `cv2.error` keeps its module, without which it is an everyday word."""
        return self.exception if self.type_name.islower() else self.type_name

    @property
    def user_frame(self) -> Frame | None:
        """The innermost frame of the user's own code."""
        return next((f for f in reversed(self.frames) if f.is_user), None)

    @property
    def module_frame(self) -> Frame | None:
        """The innermost frame whose `self` is an `nn.Module`."""
        return next((f for f in reversed(self.frames) if f.module is not None), None)


@fact
class ShortSlice:
    """A slice of one sample that asked for values past the end of what it cuts.

    Where only items at the end of the data set come out short, `length` is what its `__len__` says, `right_length` how
    many items are whole, and `length_at` the line that counts them.
    """

    where: Location
    expression: str
    asked: int
    there: int
    length: int | None = None
    right_length: int | None = None
    length_at: Location | None = None


@fact
class SampleField:
    """A field on which the samples of a batch differ, or that no batch can be made of.

    `problem` is "shape", "length", "type", "missing", "none" or "class"; `forms` tells what each sample holds there.
    `none_from` is the end of the function that handed back a None which came through to here, `short` the slice that
    made a sample shorter than the others.
    """

    path: str
    problem: str
    forms: tuple[str, ...] = ()
    none_from: Location | None = None
    short: ShortSlice | None = None


@fact
class ChildCrash(Observation):
    """What a process that the script started died of, where the script's own exception is of the lost connection.

    `count` processes died of an exception; this is of the first of them.
    """

    kind: ClassVar[str] = "child-crash"
    step: int | None
    crash: Crash
    count: int


@fact
class RefetchedSample(Observation):
    """What became of the samples of a batch that a DataLoader could not fetch, when they were fetched again.

    `stage` says where it failed: "dataset", "collate", "iterable" (cannot be fetched again) or "" (it did not fail).
    `worker_signal` and `worker_exit` are those of a worker that died, `exit_signal` and `exit_code`
    those of the second fetch where it ended its process. With `batch_is_none` the fetch itself did not fail: the loop
    was handed None, by the `collate` that begins at `collate_at`.
    """

    kind: ClassVar[str] = "refetched-sample"
    index: int | None = None
    indices: tuple[int, ...] = ()
    dataset: str = ""
    loader_built: Location | None = None
    getitem: Location | None = None
    collate: str = ""
    num_workers: int = 0
    start_method: str = ""
    batch_size: int | None = None
    has_own_collate: bool = False
    collate_at: Location | None = None
    batch_is_none: bool = False
    fields: tuple[SampleField, ...] = ()
    failed: bool = False
    timed_out: bool = False
    stage: str = ""
    crash: Crash | None = None
    worker_signal: int | None = None
    worker_exit: int | None = None
    exit_signal: int | None = None
    exit_code: int | None = None
    native_stack: tuple[str, ...] = ()
    shared_memory_free: int | None = None
    shared_memory_total: int | None = None
    memory_available: int | None = None
    step: int | None = None


@fact
class WideSample(Observation):
    """A field of a data set's sample that is float64, and the line that made it so, seen when it was fetched again.

    `of` is what was looked at: "sample", or "batch" where the user's own collating made it. `form` is its type:
    "ndarray", "Tensor" or "float".
    """

    kind: ClassVar[str] = "wide-sample"
    dataset: str
    of: str
    path: str
    form: str
    shape: tuple[int, ...]
    born: Location
    step: int | None = None


@fact
class ChildDeath(Observation):
    """The script's process ended without Python's knowledge: a signal, or an abrupt exit."""

    kind: ClassVar[str] = "child-death"
    signal: int
    name: str
    native_stack: tuple[str, ...] = ()
    peak_memory: int | None = None
    last_seen: Location | None = None
    step: int | None = None
